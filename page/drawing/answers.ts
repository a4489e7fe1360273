/** The answer to the question of the page: who holds each lock, and who is inside of each resource, from moment to moment. */
import type { Timeline, TimelineHold, TimelineTenure } from '../format.ts';

/** A stretch of time in which the same clients hold a lock. */
export interface AnswerPart {
  readonly from: number;
  readonly to: number;
  /** The clients, in the order in which they got it; empty while it is free. */
  readonly holders: readonly string[];
  /** True while two of them must not hold it together. */
  readonly broken: boolean;
  /** What to write instead of the holders. */
  readonly text?: string;
}

/** A row: the holders of a lock, how many servers granted it to each client, or the clients inside a resource. */
export interface AnswerRow {
  readonly key: string;
  readonly kind: TimelineHold['kind'] | 'votes';
  readonly parts: readonly AnswerPart[];
}

/** When a hold ends, as far as the drawing goes. */
export function holdEnd(hold: TimelineHold, end: number): number {
  return hold.to ?? hold.lease ?? end;
}

/** The most rows. The locks that were lost come first. */
const MOST = 3;
/** The height of a row. */
export const ROW = 28;
/** How long a run may be, in grants, for the row of votes: it is drawn anew in each frame. */
const GRANTS = 2000;

/** The rows of a run: locks first, and those before the others that two clients held. */
export function answersOf(run: Timeline): AnswerRow[] {
  const names = new Map<string, TimelineHold>();
  for (const hold of run.holds) {
    const name = `${hold.kind} ${hold.key}`;
    if (!names.has(name)) names.set(name, hold);
  }
  const lost = new Set(run.overlaps.map(({ key }) => key));
  const rank = ({ kind, key }: TimelineHold): number => (kind === 'lock' ? 0 : 1) + (lost.has(key) ? 0 : 2);
  const chosen = [...names.values()].sort((a, b) => rank(a) - rank(b)).slice(0, MOST);
  return chosen
    .sort((a, b) => (a.kind === b.kind ? 0 : a.kind === 'lock' ? -1 : 1))
    .flatMap(({ key, kind }, i) => {
      const row: AnswerRow = { key, kind, parts: partsOf(run, key, kind) };
      return i === 0 && kind === 'lock' ? [row, ...votesOf(run, key)] : [row];
    });
}

/** How many of several independent servers have granted the lock to each client, from moment to moment. */
function votesOf(run: Timeline, key: string): AnswerRow[] {
  const { primaries, tenures = [] } = run;
  // What stands at the end of the run stands on until a client's lease is over.
  const leases = run.holds.map((hold) => holdEnd(hold, run.end)).filter((at) => at > run.end);
  const end = leases.length === 0 ? run.end : Math.min(...leases);
  const own = tenures.filter((tenure) => tenure.key === key);
  if (primaries === undefined || own.length === 0 || own.length > GRANTS) return [];
  const edges = [...new Set([0, end, ...own.flatMap(({ from, to }) => [from, to ?? end])])];
  const sorted = edges.filter((at) => at >= 0 && at <= end).sort((a, b) => a - b);
  const clients = [...new Set(own.map(({ client }) => client))].sort();
  const parts: AnswerPart[] = [];
  for (const [i, from] of sorted.entries()) {
    const to = sorted[i + 1];
    if (to === undefined) continue;
    const standing = own.filter((tenure) => tenure.from <= from && (tenure.to ?? end) >= to);
    const counts = clients.flatMap((client) => {
      const nodes = new Set(standing.filter((each) => each.client === client).map(({ node }) => node));
      return nodes.size === 0 ? [] : [{ client, text: `${client} ${nodes.size}` }];
    });
    const text = counts.length === 0 ? '' : `${counts.map((each) => each.text).join(', ')} of ${primaries}`;
    const before = parts.at(-1);
    if (before !== undefined && before.text === text) parts[parts.length - 1] = { ...before, to };
    else parts.push({ from, to, holders: counts.map(({ client }) => client), broken: false, text });
  }
  return [{ key, kind: 'votes', parts }];
}

/** What the row says from moment to moment. */
function partsOf(run: Timeline, key: string, kind: TimelineHold['kind']): AnswerPart[] {
  const holds = run.holds
    .filter((hold) => hold.key === key && hold.kind === kind)
    .map((hold) => ({ client: hold.client, from: hold.from, to: holdEnd(hold, run.end) }));
  const overlaps = run.overlaps.filter((overlap) => overlap.key === key);
  const own = kind === 'lock' ? (run.tenures ?? []).filter((tenure) => tenure.key === key) : [];
  const last = Math.max(run.end, ...holds.map(({ to }) => to));
  const edges = new Set([0, last]);
  for (const { from, to } of [...holds, ...overlaps]) {
    edges.add(Math.max(0, from));
    edges.add(Math.min(last, to));
  }
  for (const { to } of own) if (to !== null && to > 0 && to < last) edges.add(to);
  const sorted = [...edges].sort((a, b) => a - b);
  const parts: AnswerPart[] = [];
  for (const [i, from] of sorted.entries()) {
    const to = sorted[i + 1];
    if (to === undefined || to <= from) continue;
    const inside = holds.filter((hold) => hold.from <= from && hold.to >= to);
    const holders = [...new Set(inside.map(({ client }) => client))];
    const broken = overlaps.some((overlap) => overlap.from <= from && overlap.to >= to);
    const text =
      holders.length === 1 && isGone(own, holders[0], from) ? `${holders[0]}, whose key is gone` : undefined;
    const part = { from, to, holders, broken, ...(text !== undefined && { text }) };
    const before = parts.at(-1);
    const isSame =
      before?.broken === broken && before.text === text && before.holders.join() === holders.join();
    if (before !== undefined && isSame) parts[parts.length - 1] = { ...before, to };
    else parts.push(part);
  }
  return parts;
}

/** True when the last grant that a client got before a moment has been deleted by then, although the client believes that it stands. */
function isGone(tenures: readonly TimelineTenure[], client: string | undefined, at: number): boolean {
  const last = tenures.findLast((tenure) => tenure.client === client && tenure.from <= at);
  const isDeleted = last?.ended === 'deleted' || last?.ended === 'flushed' || last?.ended === 'evicted';
  return isDeleted && last.to !== null && last.to <= at;
}

/** The holders in short, for narrow parts: `A+B`. */
export function briefText(part: AnswerPart): string {
  return part.holders.length > 0 ? part.holders.join('+') : partText(part);
}

/** The holders in words: `free`, `A`, `A and B`. */
export function partText({ holders, text }: AnswerPart): string {
  if (text !== undefined) return text;
  if (holders.length === 0) return 'free';
  return holders.length === 1
    ? (holders[0] as string)
    : `${holders.slice(0, -1).join(', ')} and ${holders.at(-1)}`;
}
