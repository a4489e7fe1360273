/**
 * `npm run test:redis-suite`: runs the Tcl tests of Redis or Valkey against lostlock, and compares the failures with the
 * list of those that remain. The tests are not part of this repository, nor is the program that runs one file of them.
 *
 *     npm run build && npm run test:redis-suite -- --dialect redis-8.0 --harness FOLDER [--units unit/multi,unit/expire]
 *         [--tools FOLDER]
 *
 * FOLDER (or the environment variable REDIS_SUITE) has `prepare.sh`, which brings the sources and prints where they are,
 * `run.sh`, and the baselines: the tests that the real server passes. CONTRIBUTING.md says what each must do. The folder of
 * `--tools` has the programs of the suite's version, such as `valkey-cli`. redis-cli 7.0 does not have what later suites
 * test, and some of their tests wait forever for its output.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Judged, judge, type Outcome, outcomesOf, reasonsOf, testsOf } from './judge.ts';

/** For each dialect: what `prepare.sh` is asked for, the baseline, and the list of the tests that remain. */
const SUITES: Record<string, { next: string; baseline: string; remaining: string }> = {
  'redis-7.0': { next: '', baseline: 'baseline.tsv', remaining: 'remaining-7.0.txt' },
  'redis-8.0': { next: 'redis', baseline: 'baseline-redis-8.0.tsv', remaining: 'remaining-8.0.txt' },
  'valkey-8.1': {
    next: 'valkey',
    baseline: 'baseline-valkey-8.1.tsv',
    remaining: 'remaining-valkey-8.1.txt',
  },
};

const { values } = parseArgs({
  options: {
    dialect: { type: 'string', default: 'redis-7.0' },
    harness: { type: 'string', default: process.env.REDIS_SUITE ?? '' },
    units: { type: 'string' },
    tools: { type: 'string' },
  },
});

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Returns a free port. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Links the sources into a new folder, with other programs in their `src`. Returns the folder. */
function withTools(from: string, tools: string, into: string): string {
  const tree = join(into, 'tree');
  mkdirSync(join(tree, 'src'), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== 'src') symlinkSync(join(from, name), join(tree, name));
  }
  for (const name of readdirSync(tools)) symlinkSync(join(tools, name), join(tree, 'src', name));
  return tree;
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

const suite = SUITES[values.dialect];
if (suite === undefined)
  refuse(`--dialect ${values.dialect}: must be one of ${Object.keys(SUITES).join(', ')}`);
const { harness } = values;
if (!existsSync(join(harness, 'run.sh'))) {
  refuse(
    `--harness ${harness}: a folder with run.sh, prepare.sh and the baselines is needed (or set REDIS_SUITE)`,
  );
}
if (spawnSync('tclsh', { input: 'exit' }).status !== 0) refuse('tclsh is not installed');

const prepared = execFileSync(join(harness, 'prepare.sh'), {
  env: { ...process.env, NEXT: suite.next },
  encoding: 'utf8',
}).trim();
const baseline = join(harness, suite.baseline);
const out = mkdtempSync(join(tmpdir(), 'lostlock-redis-suite-'));
const sources = values.tools === undefined ? prepared : withTools(prepared, resolve(values.tools), out);
const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
// With a dump file in the working directory, the tests that look for one find it.
const command = `exec ${process.execPath} ${cli} --dialect ${values.dialect} --port {port} --dir . --dbfilename dump.rdb`;
/** In seconds, for one reply and for one file: busy machines need far longer than idle ones. */
const PATIENCE = { TCLBAR_READ_TIMEOUT: '120', TCLBAR_FILE_TIMEOUT: '1800', TCLBAR_TOTAL_TIMEOUT: '14400' };
const port = await freePort();
const asked = values.units === undefined ? [] : ['--units', values.units];
spawnSync(
  join(harness, 'run.sh'),
  ['127.0.0.1', String(port), out, '--baseline', baseline, '--server-cmd', command, ...asked],
  { env: { ...process.env, TCLBAR_SRC: sources, TCLBAR_TAGS: '-slow', ...PATIENCE }, stdio: 'inherit' },
);

const read = (path: string): string => readFileSync(path, 'utf8');
const outcomes: ReadonlyMap<string, Outcome> = outcomesOf(read(join(out, 'results.tsv')));
const units = values.units?.split(',');
const scored = testsOf(read(baseline)).filter(({ file }) => units === undefined || units.includes(file));
const reasons = reasonsOf(read(new URL(suite.remaining, import.meta.url).pathname));
const judged: Judged = judge(scored, outcomes, reasons);
const remain = scored.length - judged.passed;
console.log(
  `${values.dialect}: ${judged.passed} of ${scored.length} pass, ${remain} remain; results in ${out}`,
);
print('These pass now. Remove them from the list:', judged.mended);
print('These fail, and are not in the list:', judged.broken);
process.exitCode = judged.broken.length > 0 ? 1 : 0;
