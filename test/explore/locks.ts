/** Locks that are not safe, whose failures are found on the virtual clock and played again on real servers. */
import type { ClientSession, History } from '../../explore/index.ts';

const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

/** How long a lock's lease, the work under it, and the pause between two attempts are, in milliseconds. */
export interface Lengths {
  readonly lease: number;
  readonly work: number;
  readonly retry: number;
}

/** Acquires or releases; acquiring returns nothing when the lock is taken. */
export type Act = (session: ClientSession) => Promise<unknown>;

/** Takes the lock if nobody has it, for the lease. */
export function setsToken({ lease }: Lengths): Act {
  return ({ name, redis }) => redis.set('lock', name, 'PX', lease, 'NX');
}

const TAKE =
  "if redis.call('exists',KEYS[1])==1 then return 0 end redis.call('set',KEYS[1],ARGV[1],'px',ARGV[2]) return 1";

/** Does the same in a script, which answers every attempt with a number. */
export function runsScript({ lease }: Lengths): Act {
  return ({ name, redis }) => redis.eval(TAKE, 1, 'lock', name, lease);
}

/** Takes the lock for ever if nobody has it. Errors count as refusals. */
export const forEver: Act = ({ redis }) => redis.setnx('lock', 1).catch(() => 0);

/** Releases the lock if the client still has it. */
export const byToken: Act = ({ name, redis }) => redis.eval(RELEASE, 1, 'lock', name);

/** Releases the lock even if another client holds it. */
export const byHand: Act = ({ redis }) => redis.del('lock');

/** A client that takes the lock, works, and gives it back. @param fenced true to take a fence from a counter */
export function lock(lengths: Lengths, give: Act, take = setsToken(lengths), fenced = false) {
  return async (session: ClientSession): Promise<void> => {
    const { redis, sleep, resource } = session;
    while (!(await take(session))) await sleep(lengths.retry);
    const inside = resource('stock').enter(fenced ? { fence: await redis.incr('fence') } : {});
    await sleep(lengths.work);
    inside.write();
    inside.leave();
    await give(session);
  };
}

/** Nobody deletes the key that another client has set. */
export function wrongRelease({ writes }: History): string | undefined {
  const setters: string[] = [];
  for (const { client, command } of writes) {
    const verb = command[0]?.toUpperCase();
    if (client === undefined) continue;
    if (verb === 'SET') setters.push(client);
    else if (verb === 'DEL' && setters.length > 0 && setters.at(-1) !== client)
      return `${client} deletes the key of ${setters.at(-1)}`;
  }
  return undefined;
}
