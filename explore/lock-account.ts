/** The account of the locks of a played world: grants with what ended them, refusals, and who waits. */
import type { LockAccount } from '../lab/account/account.ts';
import { accountOfWorld } from './cause/recorded.ts';
import type { PlayedWorld } from './played-world.ts';

/**
 * The account of a world, whose times count from the start of the clients, in microseconds. It reads all messages, so that it is made
 * only when somebody asks. Undefined for a world on real servers, which records less.
 */
export function lockAccountOf(world: PlayedWorld): LockAccount | undefined {
  return world.world === undefined ? undefined : accountOfWorld(world).account;
}
