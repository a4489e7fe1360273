/** Learns from the world without faults how often each client enters, and what each waits for at the end. */

import type { LockAccount } from '../lab/account/account.ts';
import { readable } from '../page/text.ts';
import { accountOfWorld } from './cause/recorded.ts';
import { errorOf, kindOf } from './cause/request.ts';
import type { CalmWorld, ClientLife } from './lives.ts';
import type { PlayedWorld } from './played-world.ts';
import { gist } from './promises/broken.ts';
import { PROBE } from './visit.ts';

/** What the world without faults shows. */
export function calmOf(world: PlayedWorld): CalmWorld {
  const entries = new Map<string, number>();
  for (const { client } of world.visits)
    if (client !== PROBE) entries.set(client, (entries.get(client) ?? 0) + 1);
  const stayed = world.lives.filter(({ to }) => to > world.toldAt);
  const insideAtEnd = (name: string): boolean =>
    world.visits.some(({ client, from, to }) => client === name && from <= world.toldAt && to > world.toldAt);
  const half = world.toldAt / 2;
  const wasInside = (name: string): boolean =>
    world.visits.some(({ client, from, to }) => client === name && from <= world.toldAt && to >= half);
  const waiting = stayed.filter(({ client }) => !wasInside(client));
  const stuck = waiting.filter((life) => isStuck(world, life));
  for (const { client } of stuck) entries.set(client, Infinity);
  const isHeld = stayed.some(({ client }) => insideAtEnd(client));
  const isIdle = waiting.length > stuck.length;
  return {
    entries,
    idle: !isIdle ? 'nobody' : isHeld ? 'behind a holder' : 'for no lock',
    probe: probeOf(world),
    stays: stayed.length > 0,
    span: stayed.length > 0 ? 0 : world.span,
  };
}

/** Errors that clients meet although nothing is wrong: they load the script, follow the slot, or find that the group exists. */
const USUAL = /^(?:NOSCRIPT|MOVED|ASK|BUSYGROUP)$/;
/** How many different errors of servers are told. */
const MOST_REFUSALS = 10;

/** What servers refused in the world without faults, each once. Code that ignores such an error looks the same as code that works. */
export function refusalsIn(world: PlayedWorld): string[] {
  const { account, messages } = accountOfWorld(world);
  const refused = account.calls.all.filter((call) => {
    const error =
      call.client === PROBE || call.sent > world.toldAt * 1000 ? undefined : errorOf(call, messages);
    return error !== undefined && !USUAL.test(error);
  });
  const told = refused.map(
    (call) => `${call.client}'s ${kindOf(call)}: ${gist(readable(call.reply?.text ?? ''))}`,
  );
  return [...new Set(told)].slice(0, MOST_REFUSALS);
}

/**
 * True for a client that waits for a lock in vain even without faults. It was refused the lock since it last left, and the same code
 * has ended in others, or nobody has been inside for a long time.
 */
function isStuck(world: PlayedWorld, { client }: ClientLife): boolean {
  if (!wantsLock(world, client)) return false;
  if (world.lives.some(({ ended, to }) => ended === 'returned' && to <= world.toldAt)) return true;
  const half = world.toldAt / 2;
  return !world.visits.some(
    ({ client: who, from, to }) => who !== PROBE && from <= world.toldAt && to >= half,
  );
}

/** True when the client was refused a lock, or waits for it, since it last left a resource. */
function wantsLock(world: PlayedWorld, name: string): boolean {
  // Workers of a queue wait for the next job, and each job is done once.
  if (world.visits.length > 0 && world.visits.every(({ resource }) => world.once?.has(resource)))
    return false;
  const { account } = accountOfWorld(world);
  const until = world.toldAt * 1000;
  const left = Math.max(
    0,
    ...world.visits.flatMap(({ client, from, to }) =>
      client === name && Number.isFinite(to) && (from <= world.toldAt || name === PROBE) ? [to] : [],
    ),
  );
  const since = left * 1000;
  const entered = locksOfEntries(account, until);
  const isHolder = account.tenures.some(
    ({ client, from, end }) => client === name && from <= until && (end?.at ?? Infinity) > until,
  );
  // Workers of a queue take turns by a lock to look for stalled jobs. They wait for the next job, not for that lock.
  const matters = (lock: string): boolean => entered.size === 0 || entered.has(lock) || isHolder;
  return (
    account.refusals.some(({ client, lock, at }) => client === name && at >= since && matters(lock)) ||
    account.waiters.some(({ client, to }) => client === name && (to === null || to >= since)) ||
    isCounted(world, name)
  );
}

/**
 * True when the client's last request has changed a key without a lease, as the requests of those did that went in, although the client
 * was not let in: a counter that counts refusals.
 */
function isCounted(world: PlayedWorld, name: string): boolean {
  const { account, run } = accountOfWorld(world);
  const last = account.calls.all.findLast(({ client }) => client === name);
  if (last === undefined || world.visits.some(({ client }) => client === name)) return false;
  const keys = account.entries.flatMap(({ grant }) =>
    grant !== undefined && kindOf(grant) === kindOf(last) ? [...grant.wrote] : [],
  );
  return keys.some(
    (key) =>
      last.wrote.has(key) &&
      !run.writes.some(({ write }) => write.key === key && /pexpireat|pxat/i.test(write.command.join(' '))),
  );
}

/** The locks whose grants let clients enter before they were told to end, as far as the servers show it. */
function locksOfEntries({ entries }: LockAccount, until: number): ReadonlySet<string> {
  const early = entries.filter(({ visit }) => visit.from <= until || visit.client === PROBE);
  return new Set(early.flatMap(({ tenure }) => tenure?.lock ?? []));
}

function probeOf(world: PlayedWorld): CalmWorld['probe'] {
  const visits = world.visits.filter(({ client }) => client === PROBE);
  const [first] = world.probeLives;
  // Later lives may enter, when what made the first one return has expired: a value in a cache, or the mark of a job.
  if (first?.ended === 'returned' && !visits.some(({ life }) => life === first.life))
    return gaveUp(world) ? 'enters' : 'returns';
  if (visits.length > 0) return 'enters';
  if (world.probeLives.some(({ ended }) => ended === 'threw')) return 'enters';
  if (world.probeLives.some(({ ended }) => ended === 'returned')) return 'returns';
  return wantsLock(world, PROBE) ? 'enters' : 'waits';
}

/** True when the probe asked again and again for a lock that nobody had, was refused each time, and returned. */
function gaveUp(world: PlayedWorld): boolean {
  const own = accountOfWorld(world).account.refusals.filter(({ client }) => client === PROBE);
  return (
    own.length >= MANY &&
    own.every(({ because, at }) => because === undefined || (because.end?.at ?? Infinity) <= at)
  );
}

/** A client that asks at least this often waits for a lock. One that asks less often may have found its work done. */
const MANY = 4;
