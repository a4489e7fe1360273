/** The promise that nobody ends the lock of another client: no release without a token, no overwriting, no reaper. */
import { commandText, type Tenure, takerOf } from '../../lab/account/tenures.ts';
import type { HistoryWrite } from '../history.ts';
import type { ClientLife } from '../lives.ts';
import { PROBE } from '../visit.ts';
import type { LockPromise } from './promise.ts';

/** Commands that can end the lock of another client. */
const ENDS = /^(?:del|unlink|getdel|rename|p?expire|getex|hdel|zrem|srem|lrem|lpop|rpop|spop)/i;

export const releasedByHolder: LockPromise = {
  sentence: 'only its holder releases a lock, as long as its lease lasts and its process lives',
  nothing: 'if no client takes a lock that the lab recognizes',
  hasCase: (_, { account }) => account === undefined || account().tenures.length > 0,
  broken: 'A lock is released by somebody else',
  *ofHistory({ visits, lives }, writes, account) {
    if (!mayEnd(writes)) return;
    const isClient = (name: string): boolean => name === PROBE || lives.some((life) => life.client === name);
    for (const tenure of account().tenures) {
      const { client, lock, end, shortened } = tenure;
      // What an operator and nodes do, such as the move of a slot with its keys, is no release.
      const taker = takerOf(tenure);
      if (end === undefined || taker === undefined || !mayBeTaken(tenure)) continue;
      if (!isClient(client) || !isClient(taker)) continue;
      if (hasDied(lives, client, end.at / 1000)) continue;
      const at = end.at / 1000;
      const inside = visits.filter((visit) => visit.client === client && visit.from <= at && at < visit.to);
      const by = end.how === 'expired' ? commandText(shortened?.call) : end.what;
      const what = `${taker}'s ${by.replace(/^a /, '')} took ${lock} from ${client}, who still held it`;
      yield { at, what, visits: inside.map(({ id }) => id) };
      return;
    }
  },
};

/** True when a client may have ended what another wrote: the account, which tells, costs more. */
function mayEnd(writes: readonly HistoryWrite[]): boolean {
  const writers = new Map<string, string>();
  for (const { client, command } of writes) {
    const [name = '', key = ''] = command;
    const before = writers.get(key);
    if (client === undefined) writers.delete(key);
    else if (before !== undefined && before !== client && ENDS.test(name)) return true;
    else writers.set(key, client);
  }
  return false;
}

/** True for a grant that its client still had. A permit without a lease may be one that is over. */
function mayBeTaken({ restored, permit, deadline }: Tenure): boolean {
  return !restored && !(permit && deadline === undefined);
}

function hasDied(lives: readonly ClientLife[], name: string, at: number): boolean {
  const life = lives.findLast(({ client, from }) => client === name && from <= at);
  return life?.ended === 'died' && life.to <= at;
}
