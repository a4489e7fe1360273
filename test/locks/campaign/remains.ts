/** What is left on the servers when all lives and faults are over and every lease has ended: the rule `returned`. */
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import { kindNames, kinds, titlesOf } from '../../../locks/kinds/index.ts';
import type { Client } from './clients.ts';
import type { Judge } from './judge.ts';
import { FINAL } from './lives.ts';
import type { KindName, Plan } from './plan.ts';

const titled = (is: 'swept' | 'counts'): readonly KindName[] =>
  titlesOf(kindNames.filter((kind) => kinds[kind][is] === true));
const SWEPT = titled('swept');
const COUNTING = titled('counts');

/** Numbers that must never be smaller than before, so they stay. */
const NUMBERS = /^redisson_lock_token:|:lostlock_queue_number$/;
/** What servers remember of requests for some time. */
const REMEMBERED = /^lostlock_(requests|abandoned):/;

/** Reports keys and permits that were not returned. Call it as an actor of its own. */
export async function checkRemains(
  plan: Plan,
  sets: readonly ReplicaSet[],
  clients: readonly Client[],
  judge: Judge,
): Promise<void> {
  const { kind, parts, units } = plan;
  const kinds = [kind, ...parts];
  const living = clients.find(({ alive }) => alive);
  if (living && kinds.some((each) => SWEPT.includes(each))) {
    const sweep = async (): Promise<void> => {
      for (const [part] of (kind === 'multi' ? parts : [kind]).entries()) {
        const entries = await living.kit.acquire({ ...FINAL, part }, {}, true);
        await entries?.[0]?.held.release();
      }
    };
    // A session may have ended meanwhile: whether everybody can get every lock is looked at afterwards.
    await living.actor.call(() => sweep().catch((error: unknown) => judge.threw('sweeping', error)));
  }
  const sessions = await Promise.all(clients.filter(({ alive }) => alive).map(({ kit }) => kit.sessionKey()));
  for (const set of sets) {
    const redis = set.client('umpire');
    for (const key of await redis.keys('*')) {
      if (sessions.includes(key)) continue; // It is renewed as long as its client lives.
      if (NUMBERS.test(key) || (REMEMBERED.test(key) && (await redis.pttl(key)) >= 0)) continue;
      if ((key === 'L' || key === 'M') && kinds.some((each) => COUNTING.includes(each))) continue;
      const left = await redis.pttl(key);
      judge.report('returned', `${key} is left, ${left < 0 ? 'for good' : `for ${left} ms`}`);
    }
    if (kind === 'semaphore' && !judge.promises.excusesLeaks) {
      const left = Number(await redis.get('L'));
      if (left !== units) judge.report('returned', `${left} of ${units} permits are left`);
    }
    redis.disconnect();
  }
}
