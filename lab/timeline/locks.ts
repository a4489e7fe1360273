/** Finds the writes of a run that are about locks, and the name of the lock behind each key. */
import type { ReadMessage } from './connections.ts';
import type { LockWrite } from './lock-write.ts';
import { lockName, type Pools } from './pools.ts';
import type { RecordedRun, RecordedWrite } from './record.ts';

/** Keys with which lostlock/locks and Redisson keep books beside the lock itself. */
const INTERNAL =
  /^(?:lostlock_(?:abandoned|requests|queue)|redisson_(?:lock__channel|lock_queue|lock_timeout|lock_token|unlock_latch|rwlock|sc)):/;
/** The key of a session; the locks that belong to it have its name in their value. */
const SESSION = /^lostlock_session:[^ ]+/;
/** The key with which a reader of a read-write lock keeps its lease: `{name}:<owner>:rwlock_timeout:1`. */
const READER = /^(.+):([^:]+:[^:]+):rwlock_timeout:\d+$/;

/** The requests that led to writes. */
export interface LockRequests {
  /** The request that the node executed for the client at this moment. */
  of(write: RecordedWrite): number | undefined;
}

/** Every write of a client about a lock, in the order of time. */
export function lockWritesOf(run: RecordedRun, messages: readonly ReadMessage[], pools: Pools): LockWrite[] {
  const requests = requestsIn(messages, run.clock);
  const modes = new Map<string, Mode>();
  /** The deadline of each session, and the locks that it holds. */
  const sessions = new Map<string, { deadline: number; readonly locks: Map<string, string> }>();
  return run.writes.flatMap((each): LockWrite[] => {
    const { key, client, type, command, at } = each.write;
    if (client === undefined || INTERNAL.test(key)) return [];
    const request = requests.of(each);
    const common = { at: each.at, node: each.node, client, key, request, shared: false, renews: false };
    const asked = (messages[request ?? -1]?.asks ?? []).map(({ words }) => words);
    const pooled = pools.holdsIn(each, { ...common, claim: key }, asked);
    if (pooled !== undefined) return pooled;
    const deadline = deadlineOf(command, asked);
    if (SESSION.test(key)) {
      const session = sessions.get(key) ?? { deadline: 0, locks: new Map<string, string>() };
      sessions.set(key, session);
      session.deadline = type === 'none' ? at : (deadline ?? session.deadline);
      const lease = session.deadline - at;
      return [...session.locks].map(([lock, holder]) => ({
        ...{ ...common, key: lock, claim: lock, lock, holder: type === 'none' ? undefined : holder },
        ...{ lease: type === 'none' ? undefined : lease, renews: true, gone: type === 'none' },
      }));
    }
    const reader = READER.exec(key);
    const mode = modeAfter(modes, each);
    const gone = type === 'none' || (mode !== undefined && isHdelOfWriter(command));
    const holder = gone ? undefined : holderOf(each, mode);
    const session = sessions.get(SESSION.exec(holder ?? '')?.[0] ?? '');
    for (const { locks } of sessions.values()) if (gone || session?.locks !== locks) locks.delete(key);
    if (session !== undefined && holder !== undefined) session.locks.set(key, holder);
    const end = session?.deadline ?? deadline;
    return [
      {
        ...{
          ...common,
          claim: key,
          lock: reader === null ? key : lockName(reader[1] as string),
          holder,
          gone,
        },
        shared: reader !== null,
        lease: holder === undefined || end === undefined ? undefined : end - at,
        renews: /^p?expire(at)?$/i.test(command[0] ?? ''),
      },
    ];
  });
}

/** The keys that are used as locks: with a holder and a deadline, or only written when there is none. */
export function lockKeysOf(writes: readonly LockWrite[]): Set<string> {
  const held = writes.filter(({ holder, lease }) => holder !== undefined && lease !== undefined);
  return new Set(held.map(({ lock }) => lock));
}

/** A read-write lock: its mode, and the field of its writer. */
interface Mode {
  readonly mode: string;
  readonly writer: string | undefined;
}

/** The mode of a read-write lock after the write; undefined for other keys. */
function modeAfter(modes: Map<string, Mode>, { write }: RecordedWrite): Mode | undefined {
  const { key, type, command } = write;
  const known = modes.get(key);
  const [name = '', , field, value = ''] = command;
  const writer = command.find((word) => word.endsWith(':write'));
  const now =
    /^hset$/i.test(name) && (field === 'mode' || (known !== undefined && writer !== undefined))
      ? { mode: field === 'mode' ? value : (known?.mode ?? ''), writer: writer ?? known?.writer }
      : known;
  if (now !== undefined) modes.set(key, now);
  if (type === 'none') modes.delete(key);
  return now;
}

/** What stands for the holder. In a read-write lock it is the writer's field; readers have keys of their own. */
function holderOf({ write }: RecordedWrite, mode: Mode | undefined): string | undefined {
  if (write.holder !== 'mode') return write.holder;
  return mode?.mode === 'write' ? mode.writer : undefined;
}

function isHdelOfWriter(command: readonly string[]): boolean {
  return /^hdel$/i.test(command[0] ?? '') && command.some((word) => word.endsWith(':write'));
}

/** When the command ends the key, in milliseconds since the epoch; Infinity for a lock without an end; undefined if it says neither. */
function deadlineOf(command: readonly string[], asked: readonly (readonly string[])[]): number | undefined {
  const name = (command[0] ?? '').toLowerCase();
  const pxat = command.findIndex((word) => /^pxat$/i.test(word));
  if (name === 'set' && pxat !== -1) return Number(command[pxat + 1]);
  if (name === 'pexpireat') return Number(command[2]);
  const once = asked.some(
    (words) => /^setnx$/i.test(words[0] ?? '') || words.some((word) => /^nx$/i.test(word)),
  );
  return once && /^set/.test(name) ? Infinity : undefined;
}

function requestsIn(messages: readonly ReadMessage[], clock: RecordedRun['clock']): LockRequests {
  const requests = new Map<string, number[]>();
  /** All requests from one party to another, in the order in which they were sent. */
  const between = new Map<string, number[]>();
  const add = (lists: Map<string, number[]>, name: string, i: number): void => {
    const known = lists.get(name);
    if (known === undefined) lists.set(name, [i]);
    else known.push(i);
  };
  for (const [i, { kind, from, to, arrived }] of messages.entries()) {
    if (arrived === null || kind !== 'request') continue;
    add(requests, `${from} ${to} ${arrived}`, i);
    add(between, `${from} ${to}`, i);
  }
  return {
    of: ({ at, node, write }) => {
      const names = (i: number): boolean =>
        messages[i]?.asks?.some(({ words }) => words.includes(write.key)) === true;
      const found = requests.get(`${write.client} ${node} ${at}`) ?? [];
      if (found.length > 0 || clock === 'virtual') return found.find(names) ?? found.at(-1);
      // In real time, a node executes a request a little after it has arrived.
      return between
        .get(`${write.client} ${node}`)
        ?.findLast((i) => (messages[i]?.arrived ?? Infinity) <= at && names(i));
    },
  };
}
