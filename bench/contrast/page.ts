/** Writes the page and the plot of the contrast benchmark. */
import { escapeText } from '../oversell/report.ts';
import { FAULTS, type Fate } from './system.ts';

/** The results of one lock system. */
export interface Row {
  readonly name: string;
  /** One for each fault; undefined where the benchmark cannot cause it. */
  readonly fates: (Fate | undefined)[];
  /** The median and the 99th percentile of an acquisition without faults, in milliseconds. */
  readonly median: number;
  readonly p99: number;
}

/** How the figures came about. */
export interface Setting {
  readonly versions: readonly string[];
  readonly machine: string;
  /** The lease or session timeout, in milliseconds. */
  readonly lease: number;
  /** How late replicas are, in milliseconds. */
  readonly behind: number;
  /** How many acquisitions were timed. */
  readonly count: number;
}

function cell(fate: Fate | undefined): string {
  if (fate === undefined) return 'not measured';
  return `${fate.twoHolders ? '**two holders**' : 'one holder'}; ${fate.without.toFixed(1)} s`;
}

/** The page. */
export function page(rows: readonly Row[], { versions, machine, lease, behind, count }: Setting): string {
  const table = rows.map(
    ({ name, fates, median, p99 }) =>
      `| ${name} | ${fates.map(cell).join(' | ')} | ${median.toFixed(1)} ms, ${p99.toFixed(1)} ms |`,
  );
  return `# The same faults on other lock systems

\`npm run bench:contrast\` causes four faults on six lock systems, with a lease (or session timeout) of ${lease} ms everywhere. Client A takes the
lock, the fault strikes at once, and client B tries to take the same lock for three leases. *Two holders* means that B got it
while A's lease was still running by A's own clock, or while A, which had stood still, relied on it without looking. The seconds are the
time after the fault until some client could get a lock: another lock, which nobody holds, and A's lock where A stalls. The last column
is the median and the 99th percentile of ${count} acquisitions without faults.

| system | ${FAULTS.join(' | ')} | acquisition |
|---|${FAULTS.map(() => '---').join('|')}|---|
${table.join('\n')}

![seconds without a lock](contrast.svg)

How the systems were set up:

- Redis has two replicas that are ${behind} ms behind the primary. One of them is promoted one second after the primary fails or is cut
  off, the one with the higher offset. *WAIT 1* counts a lock when one replica has it. What is under way when the primary dies is lost.
- Redlock: a node of five dies; A reaches nodes 1 and 2 only, and B the others; one of the three nodes that both reach restarts empty
  (A has the votes of nodes 1 to 3, B can get those of 3 to 5).
- Quorum mode is that of lostlock's nodes: a write is answered when two of three nodes have it. A primary that restarts empty without a
  failover loses it all the same.
- ZooKeeper and etcd: ensembles of three; the leader is the node that dies, is cut off or restarts empty. To cut it off, each member runs
  in a network namespace of its own, ZooKeeper's client A in that of the leader. Etcd's client A sends nothing after the cut.
- A stalled holder is a client that renews nothing for longer than its lease, and goes on without asking. No lease survives that; only a
  resource that checks fencing tokens does ([locks.md](locks.md)).

Each fault was caused once, so the seconds are examples, not averages. Versions: ${versions.join('; ')}. Machine: ${machine}.
`;
}

const COLORS = ['#4477aa', '#ccbb44', '#ee6677', '#228833'];

/** Bars with the seconds without a lock; a bar with a star had two holders. */
export function plot(rows: readonly Row[]): string {
  const [left, width, bar, top] = [180, 420, 13, 40];
  const height = rows.length * (FAULTS.length * bar + 12);
  const most = Math.max(...rows.flatMap(({ fates }) => fates.map((fate) => fate?.without ?? 0)), 1);
  const parts: string[] = [];
  for (const [i, fault] of FAULTS.entries()) {
    const x = 10 + [0, 100, 205, 440][i]!;
    parts.push(`<rect x="${x}" y="12" width="10" height="10" fill="${COLORS[i]}"/>`);
    parts.push(`<text x="${x + 14}" y="21">${fault}</text>`);
  }
  for (const [at, { name, fates }] of rows.entries()) {
    const y = top + at * (FAULTS.length * bar + 12);
    parts.push(`<text x="${left - 8}" y="${y + 2 * bar + 4}" text-anchor="end">${escapeText(name)}</text>`);
    for (const [i, fate] of fates.entries()) {
      if (fate === undefined) continue;
      const length = Math.max(1, (fate.without / most) * width);
      parts.push(
        `<rect x="${left}" y="${y + i * bar}" width="${length.toFixed(1)}" height="11" fill="${COLORS[i]}"/>`,
      );
      const label = `${fate.without.toFixed(1)} s${fate.twoHolders ? ' * two holders' : ''}`;
      parts.push(
        `<text x="${(left + length + 4).toFixed(1)}" y="${y + i * bar + 10}" class="small">${label}</text>`,
      );
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 140}" height="${top + height}" font-family="sans-serif" font-size="12">`,
    '<title>Seconds without a lock after a fault; a star marks two holders</title>',
    '<style>text{fill:#333}.small{font-size:10px}</style>',
    '<rect width="100%" height="100%" fill="white"/>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
