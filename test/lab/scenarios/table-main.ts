/**
 * `npm run scenarios:real`: plays S30 to S50 on lostlock nodes, on the virtual clock, and on real servers, and writes
 * docs/real-servers.md with the outcomes of both side by side. Fails if a scenario ends differently.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test notes about its plays. */
interface Noted {
  readonly title: string;
  readonly form: 'safe' | 'unsafe' | 'not played';
  readonly plays: number;
  readonly fired: number;
  readonly violated: number;
  readonly reason?: string;
  /** The program it was played on, where that is not the one for all. */
  readonly on?: string;
}

const FILES = ['wait', 'copies', 'split-brain', 'roles'].map((name) => `test/lab/scenarios/${name}.test.ts`);
/** S30 to S50. */
const TITLES = /^S(3\d|4\d|50)b? /;

/** Plays all scenarios. @param program a real server; undefined for lostlock nodes */
async function play(folder: string, program: string | undefined): Promise<Noted[]> {
  const file = join(folder, `${program === undefined ? 'virtual' : 'real'}.jsonl`);
  const env = { ...process.env, LOSTLOCK_OUTCOMES: file, ...(program && { LOSTLOCK_SCENES_ON: program }) };
  // Once each: the samples with ioredis 5 are a project of their own.
  const args = [
    'vitest',
    'run',
    ...FILES,
    '--project',
    'together',
    '-t',
    '^S(3|4|50)',
    '--testTimeout',
    '600000',
  ];
  const run = spawn('npx', args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  await new Promise((resolve) => run.once('exit', resolve));
  return read(file);
}

function read(file: string): Noted[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Noted)
    .filter(({ title }) => TITLES.test(title));
}

/** The outcome in words: in how many of the plays in which the fault struck the promise was broken. */
function outcomeOf(noted: Noted | undefined): string {
  if (noted === undefined) return 'failed';
  if (noted.form === 'not played') return `not played: ${noted.reason}`;
  const where = noted.on === undefined ? '' : `, on ${noted.on}`;
  return `${noted.violated} of ${noted.fired} faults${where}`;
}

/** True if both show the same: the promise was broken by every fault, or by none. */
function agree(one: Noted | undefined, other: Noted | undefined): boolean {
  const share = (noted: Noted | undefined): number =>
    noted === undefined || noted.fired === 0 ? -1 : noted.violated / noted.fired;
  return share(one) === share(other) && share(one) >= 0;
}

/** The page, and how many scenarios differ. */
function page(
  virtual: readonly Noted[],
  real: readonly Noted[],
  program: string,
): [text: string, differ: number] {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  const rows = virtual
    .toSorted((a, b) => (a.title < b.title ? -1 : 1))
    .map((ours) => {
      const theirs = real.find(({ title }) => title === ours.title);
      const verdict = theirs?.form === 'not played' ? '-' : agree(ours, theirs) ? 'yes' : '**no**';
      return { row: `| ${ours.title} | ${outcomeOf(ours)} | ${outcomeOf(theirs)} | ${verdict} |`, verdict };
    });
  const count = (verdict: string): number => rows.filter((each) => each.verdict === verdict).length;
  const text = `# S30 to S50 on real servers

\`npm run scenarios:real\` plays the scenarios of [scenarios.md](scenarios.md) twice with the same code: on lostlock nodes, on the
virtual clock, and on processes of ${version.split(' ').slice(0, 3).join(' ')} behind the lab's links, in real time. A cell says in how many
of the plays in which the fault struck the promise was broken. The unsafe forms break it in all of them, the safe forms in none.

${count('yes')} have the same outcome on both, ${count('**no**')} differ, and ${count('-')} are not played on real servers.

| scenario | lostlock nodes | real servers | same outcome |
|---|---|---|---|
${rows.map(({ row }) => row).join('\n')}
`;
  return [text, count('**no**')];
}

async function main(program: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-scenes-'));
  try {
    // One after the other: the plays in real time need the processor.
    const virtual = await play(folder, undefined);
    const real = await play(folder, program);
    const [text, differ] = page(virtual, real, program);
    writeFileSync('docs/real-servers.md', text);
    if (differ > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

void main(process.argv[2] ?? 'redis-server');
