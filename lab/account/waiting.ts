/** Finds the clients that wait for a lock (for a message, a list element or a place in a queue), and the answers of WAIT. */
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun } from '../timeline/record.ts';
import type { Calls, SentCommand } from './calls.ts';
import { lockName } from './pools.ts';

/** An answer of WAIT or WAITAOF. */
export interface Confirmation {
  readonly client: string;
  readonly node: string;
  readonly call: SentCommand;
  /** How many copies there were; undefined while it is not answered. */
  readonly copies: number | undefined;
  /** How many the client wanted. */
  readonly wanted: number;
  /** When the client learned of it; null when it did not. */
  readonly told: number | null;
}

/** A client that waits for a lock. Times are in microseconds since the run began. */
export interface LockWaiter {
  readonly lock: string;
  readonly client: string;
  readonly node: string;
  readonly how: 'message' | 'list' | 'queue';
  /** The channel, the list or the queue. */
  readonly where: string;
  readonly from: number;
  /** When it stopped; null when it still waits at the end. */
  readonly to: number | null;
  /** The messages that were sent to it and never arrived, by their indexes. */
  readonly missed: readonly number[];
}

const CHANNELS =
  /^(?:redisson_(?:lock__channel|unlock_latch|rwlock|sc)|redisson_fair_lock|lostlock_channel):(.+)$|^(.+):lostlock_channel$/;
const WAITING = /^(?:s?(?:un)?subscribe|b[lr]pop)$/;
const QUEUES = /^(?:redisson_lock_queue|lostlock_queue):(.+)$/;

/** The answers of WAIT and WAITAOF, also of one that came in the same packet as the write before it. */
export function confirmationsOf({ all }: Calls): Confirmation[] {
  return all.flatMap((call): Confirmation[] => {
    const { name, words, client, node, reply } = call;
    if (name !== 'wait' && name !== 'waitaof') return [];
    const [copies] = /\d+(?!.*\d)/.exec(reply?.text ?? '') ?? [];
    const wanted = Number(words[name === 'wait' ? 1 : 2]);
    const answered = copies === undefined ? undefined : Number(copies);
    return [{ client, node, call, copies: answered, wanted, told: reply?.arrived ?? null }];
  });
}

/** The clients that wait, in the order in which they began. */
export function waitersOf(
  { end, writes }: RecordedRun,
  messages: readonly ReadMessage[],
  calls: Calls,
  locks: ReadonlySet<string>,
): LockWaiter[] {
  const lockOf = (name: string): string | undefined =>
    locks.has(name) ? name : locks.has(lockName(name)) ? lockName(name) : undefined;
  const missed = lostMessages(messages);
  const found: LockWaiter[] = [];
  const open = new Map<string, { waiter: Omit<LockWaiter, 'to' | 'missed'>; connection: string }>();
  const close = (name: string, to: number | null): void => {
    const entry = open.get(name);
    if (entry === undefined) return;
    open.delete(name);
    const { where, from } = entry.waiter;
    const lost = (missed.get(`${entry.connection}\n${where}`) ?? []).filter(
      ({ sent }) => sent >= from && sent <= (to ?? end),
    );
    found.push({ ...entry.waiter, to, missed: lost.map(({ index }) => index) });
  };
  for (const { client, node, name, words, connection, executed, reply } of calls.all) {
    if (executed === null || !WAITING.test(name)) continue;
    const base = { client, node, from: executed };
    if (/^s?subscribe$/.test(name)) {
      for (const where of words.slice(1)) {
        const channel = CHANNELS.exec(where);
        const lock = lockOf(channel?.[1] ?? channel?.[2] ?? '');
        if (lock !== undefined && !open.has(`${connection} ${where}`))
          open.set(`${connection} ${where}`, {
            waiter: { ...base, lock, how: 'message', where },
            connection,
          });
      }
    } else if (/^s?unsubscribe$/.test(name)) {
      for (const where of words.slice(1)) close(`${connection} ${where}`, executed);
    } else if (/^b[lr]pop$/.test(name)) {
      for (const where of words.slice(1, -1)) {
        const lock = [...locks].find(
          (each) =>
            each === where ||
            where.startsWith(`${each}:`) ||
            where.endsWith(`:${each}`) ||
            where.includes(`{${each}}`),
        );
        if (lock !== undefined)
          found.push({ ...base, lock, how: 'list', where, to: reply?.sent ?? null, missed: [] });
      }
    }
  }
  for (const name of [...open.keys()]) close(name, null);
  return [...found, ...queuedIn(writes, lockOf)].sort((a, b) => a.from - b.from);
}

/** The published messages that were lost on the way to a client, by its connection and the channel. */
function lostMessages(messages: readonly ReadMessage[]): Map<string, { index: number; sent: number }[]> {
  const found = new Map<string, { index: number; sent: number }[]>();
  for (const [index, { from, to, port, fate, text, sent }] of messages.entries()) {
    if (fate !== 'lost') continue;
    for (const [, channel = ''] of text.matchAll(/\[s?message, ([^,\]]+)/g)) {
      const name = `${to}:${port}>${from}\n${channel}`;
      const list = found.get(name);
      if (list === undefined) found.set(name, [{ index, sent }]);
      else list.push({ index, sent });
    }
  }
  return found;
}

/** The clients with a place in the queue of a fair lock. */
function queuedIn(writes: RecordedRun['writes'], lockOf: (name: string) => string | undefined): LockWaiter[] {
  const found: LockWaiter[] = [];
  const open = new Map<string, Omit<LockWaiter, 'to' | 'missed'>>();
  for (const { at, node, write } of writes) {
    const { key, client, command, type } = write;
    const lock = lockOf(QUEUES.exec(key)?.[1] ?? '');
    if (lock === undefined) continue;
    const [name = '', , ...rest] = command;
    if (/^(?:rpush|zadd)$/i.test(name) && client !== undefined) {
      const member = rest.at(-1) ?? '';
      const place = `${key} ${member}`;
      if (!open.has(place)) open.set(place, { lock, client, node, how: 'queue', where: key, from: at });
    } else if (/^(?:lpop|lrem|zrem|del|unlink)$/i.test(name) || type === 'none') {
      const gone = /^l?rem$|^zrem$/i.test(name) ? rest.map((each) => `${key} ${each}`) : undefined;
      const first = [...open].find(([, { where }]) => where === key)?.[0];
      const over =
        gone ??
        (/^lpop$/i.test(name)
          ? [first ?? '']
          : [...open.keys()].filter((each) => each.startsWith(`${key} `)));
      for (const place of over) {
        const waiter = open.get(place);
        if (waiter !== undefined) found.push({ ...waiter, to: at, missed: [] });
        open.delete(place);
      }
    }
  }
  return [...found, ...[...open.values()].map((waiter) => ({ ...waiter, to: null, missed: [] }))];
}
