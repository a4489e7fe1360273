/** `npm run bench:robustness`: attacks our server and writes bench/robustness.md. `--only NAME` runs one section. */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Finding } from './attack.ts';
import { deafSubscribers, floods, idle, slowReaders, strangers, unfinished } from './connections.ts';
import { cves, fuzz, resets } from './inputs.ts';
import { readPage, writePage } from './page.ts';
import { globs, pipelined, runaways } from './scripts.ts';
import { allKeys, bigValues, expiries, hugeValue } from './stalls.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });

/** The attacks, by their names for `--only`. */
const SECTIONS: Readonly<Record<string, readonly [title: string, run: () => Promise<Finding[]>]>> = {
  idle: ['Idle connections', () => idle(10_000)],
  readers: ['Slow readers', () => slowReaders(1000)],
  subscribers: ['Deaf subscribers', () => deafSubscribers(1000)],
  unfinished: ['Announced and never sent', () => unfinished(1000)],
  floods: ['Requests without an end', () => floods(50)],
  strangers: ['Before AUTH', () => strangers(1000)],
  cves: ['What once broke Redis', () => cves()],
  resets: ['Reset at any byte', () => resets()],
  fuzz: ['Fuzz', () => fuzz(50_000)],
  globs: ['Hostile globs', () => globs()],
  pipeline: ['A long pipeline', () => pipelined(1_000_000)],
  expiries: ['Keys that end together', () => expiries(1_000_000)],
  keys: ['KEYS over everything', () => allKeys(1_000_000)],
  huge: ['One huge value', () => hugeValue(400)],
  values: ['Long values', () => bigValues(600)],
  scripts: ['Runaway scripts and hostile patterns', () => runaways()],
};

const chapters = readPage();
for (const [name, [title, run]] of Object.entries(SECTIONS)) {
  if (values.only !== undefined && values.only !== name) continue;
  const began = performance.now();
  const rows = (await run()).map(({ what, figures }) => `| ${what} | ${figures} |`);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const command = `\`npm run bench:robustness -- --only ${name}\` (load average ${load})`;
  const text = [`## ${title}`, '', command, '', '| attack | outcome |', '|---|---|', ...rows].join('\n');
  console.log(text, `\n(${((performance.now() - began) / 1000).toFixed(1)} s)\n`);
  chapters.set(title, text);
}
writePage(chapters);
