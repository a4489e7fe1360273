/** Accounts of virtual pairs, for tests of what the lab says about locks. */
import type { Pair, Servers } from '../../../index.ts';
import { accountOf, type LockAccount } from '../../../lab/account/account.ts';
import type { Tenure } from '../../../lab/account/tenures.ts';
import { readMessages } from '../../../lab/timeline/connections.ts';
import { recordedWorld } from '../../../lab/timeline/world.ts';

/** The account of what has happened so far. @param locks patterns of keys, as the option `locks` */
export function accountIn(pair: Pair | Servers, locks: readonly string[] = []): LockAccount {
  const sets = 'sets' in pair ? pair.sets : [pair];
  const run = { ...recordedWorld(pair.world, sets, {}), locks };
  return accountOf(run, readMessages(run.messages));
}

/** A tenure in short: the client, the lock, how it ended and by whom. */
export function short({ client, lock, end }: Tenure): string {
  const by = end?.by === undefined || end.by === client ? '' : ` by ${end.by}`;
  return `${client} ${lock} ${end === undefined ? 'stands' : `${end.how}${by} (${end.what})`}`;
}
