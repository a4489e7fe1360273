/** Finds the lock that nobody gave back, and the acknowledged write that is gone. */
import type { SentCommand } from '../../lab/account/calls.ts';
import { setsCounter } from '../../lab/account/recognition.ts';
import type { Tenure } from '../../lab/account/tenures.ts';
import type { ReadMessage } from '../../lab/timeline/connections.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE } from '../visit.ts';
import type { WorldAccount } from './recorded.ts';
import { type CauseRequest, errorOf, kindOf, requestOf } from './request.ts';

/** A lock that nobody gave back. */
export interface LeftLock {
  readonly lock: string;
  readonly client: string;
  readonly grant: CauseRequest | undefined;
  /** The last request of its client that could have given it back; undefined when there is none. */
  readonly release: CauseRequest | undefined;
  /** Why it is still there, as the rest of a sentence that begins with its client. */
  readonly why: string;
  /** True for a lock without a lease. */
  readonly endless: boolean;
  /** The request that took its lease away; undefined when none did. */
  readonly bared: CauseRequest | undefined;
  /** True when other clients have renewed its lease. */
  readonly renewedByOthers: boolean;
  /** The tenure; undefined for what is no lock that the account knows, such as a counter. */
  readonly tenure: Tenure | undefined;
}

/** An acknowledged write that a failover or a restart has lost. */
export interface LostWrite {
  readonly client: string | undefined;
  readonly node: string;
  readonly key: string;
  /** The command. */
  readonly command: readonly string[];
  /** What lost it: a failover or a restart. */
  readonly by: 'failover' | 'restart';
}

/** The lock that keeps clients out at a moment: the oldest that stands. @param until in microseconds */
export function leftIn(known: WorldAccount, until: number): LeftLock | undefined {
  const { account, run, messages } = known;
  const standing = account.tenures.filter(
    ({ client, from, end }) => client !== PROBE && from <= until && (end === undefined || end.at > until),
  );
  const [tenure] = standing;
  const taken: Taken | undefined = tenure ?? takenIn(known, until);
  if (taken === undefined) return undefined;
  const { lock, key, client, call, from, told } = taken;
  const release = account.calls.all.findLast(
    (each) =>
      each.client === client &&
      each.sent > (told ?? from) &&
      each !== call &&
      each.words.includes(key) &&
      !ASKS.test(each.name) &&
      each.name !== call?.name,
  );
  const endless = tenure === undefined ? taken.isLeased !== true : tenure.deadline === undefined;
  const died = run.events.some(
    ({ what, who, at }) => what === 'kill' && who === client && at >= from && at <= until,
  );
  return {
    ...{ lock, client, endless, tenure, why: whyLeft(taken, release, died, messages) },
    renewedByOthers: tenure?.renewals.some(({ by }) => by !== client) === true,
    bared: tenure?.bared === undefined ? undefined : requestOf(tenure.bared),
    grant: call === undefined ? undefined : requestOf(call),
    release: release === undefined ? undefined : requestOf(release),
  };
}

type Taken = Pick<Tenure, 'lock' | 'key' | 'client' | 'call' | 'from' | 'told'> &
  Partial<Tenure> & { readonly isLeased?: boolean };

function whyLeft(
  { told, restored }: Taken,
  release: SentCommand | undefined,
  died: boolean,
  messages: readonly ReadMessage[],
): string {
  if (restored === true) return 'gave it back, but a failover brought it back';
  if (died) return 'died while it had it';
  if (told === null) return 'never learned that it has it';
  if (release === undefined) return 'never gave it back';
  const error = errorOf(release, messages);
  if (error !== undefined) return `was answered ${error} when it gave it back`;
  return release.executed === null
    ? 'sent a release that never arrived'
    : 'sent a release that did not free it';
}

/** Of keys that are no locks, such as counters: the last request that took, and was followed by no other write of its client. */
function takenIn({ account, run }: WorldAccount, until: number): Taken | undefined {
  const unanswered = account.calls.all.filter(
    ({ wrote, reply }) => wrote.size > 0 && (reply?.arrived ?? null) === null,
  );
  const grants = account.entries.flatMap(({ grant }) => grant ?? []);
  const kinds = new Set((grants.length > 0 ? grants : unanswered).map(kindOf));
  // Of these it is known when they ended, also by what servers have lost.
  const locks = new Set(account.tenures.map(({ key }) => key));
  const open = new Map<string, Taken>();
  for (const each of run.writes) {
    const { write, at } = each;
    const call = account.calls.causeOf(each);
    if (at > until || call?.client === PROBE || locks.has(write.key)) continue;
    if (call !== undefined && setsCounter(write, call)) continue;
    if (call === undefined) {
      // A lease that has ended keeps nobody out.
      if (write.client === undefined && write.type === 'none')
        for (const [name, { key }] of open) if (key === write.key) open.delete(name);
      continue;
    }
    const { client, reply } = call;
    const name = `${client} ${write.key}`;
    const told = reply?.arrived ?? null;
    if (kinds.has(kindOf(call)))
      open.set(name, {
        ...{ lock: write.key, key: write.key, client, call, from: at, told },
        isLeased: write.command.some((word) => /^pxat$/i.test(word)),
      });
    else open.delete(name);
  }
  return [...open.values()].sort((a, b) => a.from - b.from)[0];
}

/** Commands that ask for a lock or only look. */
const ASKS = /^(?:set|setnx|hsetnx|get|hget|exists|p?ttl|watch|p?expire)$/;

/** The first acknowledged write that was lost. */
export function lostIn(world: PlayedWorld, { run }: WorldAccount): LostWrite | undefined {
  const [write] = historyOf(world).lost;
  if (write === undefined) return undefined;
  const { client, node, command } = write;
  const isFailover = run.events.some(({ what }) => what === 'promote');
  return { client, node, command, key: command[1] ?? '', by: isFailover ? 'failover' : 'restart' };
}
