/** The account of the locks of a played world: grants with what ended them, refusals, and who waits. */
import { accountOf, type LockAccount } from '../lab/account/account.ts';
import { readMessages } from '../lab/timeline/connections.ts';
import { recordedWorld } from '../lab/timeline/world.ts';
import type { PlayedWorld } from './played-world.ts';

const known = new WeakMap<PlayedWorld, LockAccount | undefined>();

/**
 * The account of a world, whose times count from the start of the clients, in microseconds. It reads all messages, so that it is made
 * only when somebody asks. Undefined for a world on real servers, which records less.
 */
export function lockAccountOf(world: PlayedWorld): LockAccount | undefined {
  if (known.has(world)) return known.get(world);
  const account = world.world === undefined ? undefined : makeAccount(world, world.world);
  known.set(world, account);
  return account;
}

function makeAccount({ sets, begunAt }: PlayedWorld, world: NonNullable<PlayedWorld['world']>): LockAccount {
  const record = recordedWorld(world, sets, { from: begunAt });
  // The shards of a cluster share the keys: a lock is on one of them.
  const isCluster = sets.some(({ decides }) => decides === 'a cluster');
  return accountOf({ ...record, ...(isCluster && { primaries: 1 }) }, readMessages(record.messages));
}
