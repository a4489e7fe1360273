/** The chapters of bench/robustness.md by their titles, so that a single chapter can be rewritten. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const head = `# Robustness

Written by \`npm run bench:robustness\` on Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}).
Each attack runs against a fresh server, started by \`lostlock\` on the command line. Attackers, server and bystander share
the cores. The bystander sends PING and GET all the time from its own process. Its longest wait is what other clients
experience. Memory is the server's resident size as the kernel counts it.
The load average beside each command says how busy the machine was already: above 0.5 the waits are those of a crowded machine.
`;

const PAGE = join(import.meta.dirname, '../robustness.md');

/** The chapters of the last run by their titles, in order. */
export function readPage(): Map<string, string> {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const parts = text.split(/^(?=## )/m).slice(1);
  return new Map(parts.map((part) => [/^## (.*)$/m.exec(part)?.[1] ?? '', part.trimEnd()]));
}

/** Writes the page. A chapter keeps its place, and a new one comes last. */
export function writePage(chapters: ReadonlyMap<string, string>): void {
  writeFileSync(PAGE, `${[head.trimEnd(), ...chapters.values()].join('\n\n')}\n`);
}
