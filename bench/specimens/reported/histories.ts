/** Reported failures of data behind locks: lost updates, writes that a failover loses, jobs that a queue gives twice, overtaken waiters. */
import { type ClientSession, linearizable } from '../../../explore/index.ts';
import { createLocks } from '../../../locks/index.ts';
import { fresh, give, LEASE, RETRY, type ReportedFailure, take } from './report.ts';

/** Adds to a balance: reads it, and writes the sum. @param checked whether the write is refused when somebody else has written */
function deposit(checked: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { connect, name, record, sleep } = session;
    const redis = checked ? connect() : session.redis;
    const token = fresh(name);
    await take(session, 'lock', token, 2 * RETRY + 250);
    for (let tries = 0; tries < 3; tries++) {
      const update = record('update');
      try {
        if (checked) await redis.watch('balance');
        const before = Number((await redis.get('balance')) ?? 0);
        await sleep(150);
        const done = await redis
          .multi()
          .set('balance', before + 10)
          .exec();
        if (done === null) {
          update.failed();
          continue;
        }
        update.ok({ read: before, wrote: before + 10 });
      } catch {
        // Nobody knows whether it was written.
      }
      break;
    }
    session.resource('account').enter().leave();
    await give(session, 'lock', token);
  };
}

/** Takes three jobs from a list. @param checks whether a second answer to the same request is told from a first */
function worker(moves: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, record, redis, sleep } = session;
    const step = async (operation: string, input: unknown, work: () => Promise<unknown>): Promise<void> => {
      const recorded = record(operation, input);
      await work().then(
        (output) => recorded.ok(operation === 'enqueue' ? undefined : output),
        () => undefined,
      );
    };
    for (let i = 0; i < 2; i++)
      await step('enqueue', `${name}${i}`, () => redis.rpush('jobs', `${name}${i}`));
    for (let i = 0; i < 2; i++) {
      await sleep(40);
      await step('dequeue', undefined, async () => {
        if (moves) return await redis.lpop('jobs');
        const job = await redis.lindex('jobs', 0);
        await redis.lpop('jobs');
        return job;
      });
    }
  };
}

/** Writes a setting and reads it again. */
async function setting({ name, record, redis, sleep }: ClientSession): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await sleep(30);
    const value = `${name}${i}`;
    const written = record('write', value);
    await redis.set('setting', value).then(
      () => written.ok(),
      () => undefined,
    );
    const read = record('read');
    await redis.get('setting').then(
      (found) => read.ok(found),
      () => undefined,
    );
  }
}

/** Three rounds of a lock. @param queued whether waiters stand in a queue, or each asks again after a while */
function rounds(queued: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, signal, sleep } = session;
    const locks = queued ? createLocks(redis, { leaseMs: LEASE }) : undefined;
    for (let round = 0; round < 3; round++) {
      const token = fresh(name);
      const held = await locks?.fair('lock').acquire({ signal });
      if (held === undefined) await take(session, 'lock', token);
      const inside = resource('stock').enter();
      await sleep(60);
      inside.leave();
      await (held === undefined ? give(session, 'lock', token) : held.release());
    }
    locks?.close();
  };
}

export const histories: readonly ReportedFailure[] = [
  {
    what: 'a balance is read and written under a lock whose lease is too short for a stall',
    source: 'the classic lost update',
    ...{ breaks: 'no-lost-update', faults: ['client-pause', 'delay'], within: 60 },
    ...{ unsafe: deposit(false), sound: deposit(true) },
  },
  {
    what: 'a job is read from a list and then removed',
    source: 'queues of LINDEX and LPOP',
    ...{
      breaks: 'linearizable(queue)',
      faults: ['delay', 'client-pause'],
      promises: [linearizable('queue')],
    },
    ...{ within: 20, unsafe: worker(false), sound: worker(true) },
  },
  {
    what: 'a failover loses an acknowledged write',
    source: 'asynchronous replication, L1 of the review',
    ...{
      breaks: 'linearizable(register)',
      faults: ['failover-behind'],
      promises: [linearizable('register')],
    },
    within: 30,
    unsafe: setting,
    sound: async (session) => {
      // A write counts when the replica has it, on the connection that wrote.
      const { name, record, redis, sleep } = session;
      for (let i = 0; i < 4; i++) {
        await sleep(30);
        const value = `${name}${i}`;
        const written = record('write', value);
        const [, copies] = (await redis
          .multi()
          .set('setting', value)
          .exec()
          .then(() => redis.wait(1, 200))
          .then(
            (all) => [0, all],
            () => [0, 0],
          )) as [number, number];
        if (copies > 0) written.ok();
      }
    },
  },
  {
    what: 'waiters ask again after a while, and the one that has just left is first',
    source: 'polling locks',
    ...{ breaks: 'fair', faults: [], promises: ['fair'], within: 1 },
    ...{ unsafe: rounds(false), sound: rounds(true) },
  },
];
