/** Failures S8, S18, S19, S28 and S29: rounded leases, refusals, name collisions and repeated requests. */
import { formsIn } from '../../../locks/kinds/index.ts';
import type { Failure, Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

const roundedLease: Failure = {
  id: 'S8',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const leaseMs = lab.between(300, 3900);
    const seconds = Math.floor(leaseMs / 1000);
    const set = await a.set(L, 'A', 'EX', seconds, 'NX').catch((error: Error) => error.message);
    if (set !== 'OK') return [`a lease of ${leaseMs} ms: ${set}`];
    const end = lab.believe(L, 'A');
    await lab.advance(Math.min(seconds * 1000 + 5, leaseMs - 1));
    if ((await b.set(L, 'B', 'EX', 10, 'NX')) === 'OK') lab.believe(L, 'B');
    end();
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const leaseMs = lab.between(300, 3900) + lab.between(0, 9) / 10;
    lab.trust(await lab.as('A', () => a.simple(L).acquire({ leaseMs })));
    const other = await b.simple(L).tryAcquire({ waitMs: 5000 });
    if (!other) return ['the lease did not end'];
    lab.trust(other);
    return lab.verdict();
  },
};

const outOfMemory: Failure = {
  id: 'S18',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await a.hincrby(L, 'A', 1);
    await a.pexpire(L, 60_000);
    await lab.advance(lab.between(1, 100));
    await lab.raw.config('SET', 'maxmemory', '1');
    const release = "if redis.call('hincrby', KEYS[1], ARGV[1], -1) <= 0 then redis.call('del', KEYS[1]) end";
    await a.eval(release, 1, L, 'A').catch(swallow);
    return (await lab.raw.exists(L)) === 1 ? ['released, and still locked'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    const kinds = formsIn('no memory');
    for (const { name, setUp } of kinds) await setUp?.(a, name, 1);
    const locks = await Promise.all(kinds.map(({ open, name }) => open(a, name)));
    for (const lock of locks) await (await lock.acquire()).release(); // The server knows the scripts from now on.
    const helds = await Promise.all(locks.map((lock) => lock.acquire()));
    await lab.advance(lab.between(1, 100));
    await lab.raw.config('SET', 'maxmemory', '1');
    const problems: string[] = [];
    for (const held of helds) {
      await held.extend().catch(() => problems.push(`${held.name} cannot be extended`));
      await held.release().catch(() => problems.push(`${held.name} cannot be released`));
    }
    const refused = await a
      .simple('new')
      .tryAcquire()
      .catch((error: Error) => error.name);
    if (refused !== 'ServerRefused') problems.push(`acquiring without memory: ${refused}`);
    await lab.raw.config('SET', 'maxmemory', '0');
    const keys = kinds.map(({ name, key = String }) => key(name));
    return (await lab.raw.exists(...keys, 'new')) > 0
      ? [...problems, 'released, and still locked']
      : problems;
  },
};

const collision: Failure = {
  id: 'S19',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await lab.raw.hset(L, 'price', lab.between(1, 100));
    await a.hincrby(L, 'A', 1);
    if ((await a.hincrby(L, 'A', -1)) === 0) await a.del(L);
    return (await lab.raw.hget(L, 'price')) === null ? ['the data is gone'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    const problems: string[] = [];
    for (const { name, open } of formsIn('other data')) {
      for (const type of ['hash', 'string', 'list']) {
        await lab.raw.flushall();
        if (type === 'hash') await lab.raw.hset(L, 'price', lab.between(1, 100));
        if (type === 'string') await lab.raw.set(L, 'price');
        if (type === 'list') await lab.raw.rpush(L, 'price');
        const before = await lab.raw.dump(L);
        const lock = await open(a, L);
        const held = await lock.tryAcquire({ waitMs: lab.between(0, 50) }).catch(() => null);
        await held?.release();
        if ((await lab.raw.dump(L)) !== before) problems.push(`${name}: the ${type} is gone or changed`);
      }
    }
    return problems;
  },
};

/** The answers to A's requests get lost with the connection. */
async function resetUnanswered(lab: Lab, afterMs: number): Promise<void> {
  lab.replies('A').hold();
  await lab.advance(afterMs);
  lab.pair.world.network.reset('A', lab.pair.primary.name);
  lab.replies('A').release();
}

const brokenPipeline: Failure = {
  id: 'S28',
  naive: async (lab) => {
    const options = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
    const [a, b] = [await lab.redis('A', options), await lab.redis('B')];
    const asking = lab.as('A', () =>
      a
        .pipeline()
        .set(L, 'A', 'PX', 30_000, 'NX')
        .wait(1, 100)
        .exec()
        .catch(() => null),
    );
    await resetUnanswered(lab, lab.between(20, 200));
    const replies = await asking;
    if (replies?.[0]?.[1] === 'OK') return null;
    return (await b.set(L, 'B', 'PX', 1000, 'NX')) === null
      ? ['A has given up, and its lock is in the way']
      : [];
  },
  ours: async (lab) => {
    const options = { replicas: 1, replicaTimeoutMs: 100, requestTimeoutMs: 300 };
    const [a, b] = [await lab.locks('A', options), await lab.locks('B')];
    const asking = lab.as('A', () =>
      a
        .simple(L)
        .tryAcquire()
        .catch(() => null),
    );
    await resetUnanswered(lab, lab.between(20, 200));
    const held = await asking;
    if (held) lab.trust(held);
    const other = await b.simple(L).tryAcquire({ waitMs: 5000 });
    if (other) lab.trust(other);
    return held || other ? lab.verdict() : ['A has given up, and its lock is in the way'];
  },
};

const sentAgain: Failure = {
  id: 'S29',
  naive: async (lab) => {
    const a = await lab.redis('A', { autoResendUnfulfilledCommands: true, maxRetriesPerRequest: null });
    const asking = lab.as('A', () => a.set(L, 'A', 'PX', 30_000, 'NX'));
    await resetUnanswered(lab, lab.between(20, 200));
    if ((await asking) === 'OK') return null;
    return (await lab.raw.get(L)) === 'A' ? ['A is told that it has not got the lock that it has'] : [];
  },
  ours: async (lab) => {
    const client = await lab.redis('A', { autoResendUnfulfilledCommands: true, maxRetriesPerRequest: null });
    const a = await lab.locksOver('A', client);
    await a.semaphore('permits').trySetPermits(3);
    const problems: string[] = [];
    for (const lock of [a.simple(L), a.reentrant('r'), a.semaphore('permits')]) {
      const asking = lab.as('A', () => lock.tryAcquire());
      await resetUnanswered(lab, lab.between(20, 200));
      const held = await asking;
      if (!held) problems.push(`${lock.name}: told that it has not got the lock that it has`);
      const releasing = lab.as('A', () => held?.release());
      await resetUnanswered(lab, lab.between(20, 200));
      await releasing;
    }
    if ((await lab.raw.get('permits')) !== '3') problems.push(`${await lab.raw.get('permits')} permits of 3`);
    if ((await lab.raw.exists(L, 'r')) > 0) problems.push('released, and still locked');
    return problems;
  },
};

export const refused: readonly Failure[] = [roundedLease, outOfMemory, collision, brokenPipeline, sentAgain];
