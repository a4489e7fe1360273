/** The catalogue on the site: a page for each lost lock, with timelines of the form that loses it and of the one that does not. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTimeline } from '../../lab/timeline/write.ts';
import { judgedRuns, sameTitles, shortTitle } from '../../test/catalogue/runs.ts';
import type { KeptPlay } from '../../test/lab/scenarios/plays.ts';

/** The tests that play the catalogue. */
const TESTS = ['test/lab/scenarios', 'test/locks/failures'];

/** The tests on the real clock keep no runs, and the machine may be too busy for them. */
const VIRTUAL = '^(?!real: )';

/** The list of the numbers, from a page in its folder. */
const BACK = { text: 'The catalogue, in pictures', address: '../catalogue.html' };

/** How long a test may take on a machine that is busy with other things as well, in milliseconds. */
const PATIENCE = 600_000;

/** Plays the catalogue, and shows what the tests print. Throws when a test fails. */
function plays(root: string): KeptPlay[] {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-plays-'));
  try {
    execFileSync(
      'npx',
      ['vitest', 'run', ...TESTS, '-t', VIRTUAL, '--reporter=dot', `--testTimeout=${PATIENCE}`],
      {
        cwd: root,
        env: { ...process.env, LOSTLOCK_PLAYS: folder },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    return readdirSync(folder).map(
      (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptPlay,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function firstNumber(number: string): number {
  return Number(/\d+/.exec(number)?.[0] ?? 0);
}

/** One row of the table: the titles of a number's runs, and the link to its page. */
function row(number: string, all: readonly KeptPlay[], address: string): string {
  const titles = (form: KeptPlay['form']): string =>
    all
      .filter((play) => play.form === form)
      .map(shortTitle)
      .join('; ')
      .replaceAll('|', '\\|');
  return `| [${number}](${address}){target="_self"} | ${titles('unsafe')} | ${titles('safe')} |`;
}

/**
 * Plays the catalogue, and writes the pages with the timelines.
 * @param root the repository
 * @param folder where the pages go
 * @param address the folder's address on the site
 * @returns the Markdown of the page that lists them
 */
export async function catalogue(root: string, folder: string, address: string): Promise<string> {
  const byNumber = new Map<string, KeptPlay[]>();
  for (const play of plays(root)) byNumber.set(play.number, [...(byNumber.get(play.number) ?? []), play]);
  const numbers = [...byNumber.keys()].sort((a, b) => firstNumber(a) - firstNumber(b) || (a < b ? -1 : 1));
  const rows: string[] = [];
  for (const number of numbers) {
    const all = byNumber.get(number) ?? [];
    const same = sameTitles(all);
    if (same.length > 0)
      throw new Error(`${number} has one sentence for both of its forms: ${same.join('; ')}`);
    const name = `${number.replace(/[^\w]+/g, '-').replace(/-$/, '')}.html`;
    await writeTimeline(join(folder, name), judgedRuns(all), BACK);
    rows.push(row(number, all, `${address}/${name}`));
  }
  return `# The catalogue, in pictures

Each number has a page with its runs: first the form that loses the lock or leaves it behind, then the form that does not.
They are the first runs of the tests in which the fault strikes. [The lost locks, one by one](./scenarios.md) and [the failures
that our locks are built for](./locks.md) say more about them; [Timelines](./timeline.md) says how to read a page.

| number | unsafe | safe |
|---|---|---|
${rows.join('\n')}
`;
}
