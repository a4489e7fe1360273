/** `npm run bench:robustness`: attacks servers of ours and writes bench/robustness.md; `--only NAME` runs one section. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Finding } from './attack.ts';
import { deafSubscribers, floods, idle, slowReaders, strangers, unfinished } from './connections.ts';
import { cves, fuzz, resets } from './inputs.ts';
import { globs, pipelined, runaways } from './scripts.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });

/** The attacks, by the name that `--only` takes. */
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
  scripts: ['Runaway scripts and hostile patterns', () => runaways()],
};

const head = `# Robustness

Written by \`npm run bench:robustness\` on Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}).
Each attack meets a fresh server of its own, started by \`lostlock\` on the command line; attackers, server and bystander share
the cores. The bystander asks PING and GET all the time on a process of its own: its longest wait is what an innocent
client felt. Memory is the server's resident size as the kernel counts it.
Other work kept ${(loadavg()[0] ?? 0).toFixed(1)} threads busy when this was begun: above 0.5 the waits are those of a crowded machine.
`;

const PAGE = join(import.meta.dirname, '../robustness.md');

/** The chapters of the last run by their titles: `--only` replaces one of them. */
function lastChapters(): Map<string, string> {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const parts = text.split(/^(?=## )/m).slice(1);
  return new Map(parts.map((part) => [/^## (.*)$/m.exec(part)?.[1] ?? '', part.trimEnd()]));
}

const chapters = lastChapters();
for (const [name, [title, run]] of Object.entries(SECTIONS)) {
  if (values.only !== undefined && values.only !== name) continue;
  const began = performance.now();
  const rows = (await run()).map(({ what, figures }) => `| ${what} | ${figures} |`);
  const command = `\`npm run bench:robustness -- --only ${name}\``;
  const text = [`## ${title}`, '', command, '', '| attack | outcome |', '|---|---|', ...rows].join('\n');
  console.log(text, `\n(${((performance.now() - began) / 1000).toFixed(1)} s)\n`);
  chapters.set(title, text);
}
const order = Object.values(SECTIONS).flatMap(([title]) => chapters.get(title) ?? []);
writeFileSync(PAGE, `${[head.trimEnd(), ...order].join('\n\n')}\n`);
