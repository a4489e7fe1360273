/** Failures S36b, S129, S130 and S132: a holder believes in a lease that no replica has, or that its changed clock measures wrongly. */
import type { HeldLock, Lock, Locks } from '../../../locks/index.ts';
import type { Failure, Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

/** From now on no write of the primary reaches a replica. */
function holdReplication({ pair }: Lab): void {
  for (const { name } of pair.replicas) pair.linkTo(name).hold();
}

/** The primary dies, and a replica with a replica of its own is promoted. */
async function failOver(lab: Lab): Promise<void> {
  await lab.pair.failover({ crash: true });
  await lab.advance(lab.between(500, 1500));
}

/** A random exclusive kind. */
function anyKind(lab: Lab): (locks: Locks) => Lock<HeldLock> {
  const kinds: readonly ((locks: Locks) => Lock<HeldLock>)[] = [
    (locks) => locks.simple(L),
    (locks) => locks.reentrant(L),
    (locks) => locks.fenced(L),
    (locks) => locks.fair(L),
    (locks) => locks.readWrite(L).write,
    (locks) => locks.nonReentrant(L),
    (locks) => locks.queue(L),
    (locks) => locks.multi([locks.simple(L), locks.reentrant('other')]),
  ];
  return kinds[lab.between(0, kinds.length - 1)]!;
}

const waitAlone: Failure = {
  id: 'S129',
  replicas: 2,
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    holdReplication(lab);
    const granted = lab.as('A', async () => {
      const [set, copies] = await Promise.all([a.set(L, 'A', 'PX', 600_000, 'NX'), a.wait(1, 60_000)]);
      return set === 'OK' && copies >= 1;
    });
    await lab.advance(lab.between(50, 500));
    await failOver(lab);
    if (await granted) lab.believe(L, 'A');
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const kind = anyKind(lab);
    const options = { replicas: 1, replicaTimeoutMs: 60_000 };
    const [a, b] = [await lab.locks('A', options), await lab.locks('B')];
    await (await lab.as('A', () => kind(a).acquire())).release(); // The scripts are known.
    await lab.advance(100);
    holdReplication(lab);
    const granted = lab.as('A', () =>
      kind(a)
        .tryAcquire()
        .catch(() => null),
    );
    await lab.advance(lab.between(50, 500));
    await failOver(lab);
    const held = await granted;
    if (held) lab.trust(held);
    const other = await kind(b).tryAcquire({ waitMs: 1000 });
    if (other) lab.trust(other);
    return held || other ? lab.verdict() : ['nobody gets the lock'];
  },
};

/** The client's requests are executed and no reply arrives; then its connections break, and it may dial again. */
async function loseReplies(lab: Lab): Promise<void> {
  const lane = lab.replies('A');
  lane.hold();
  await lab.advance(lab.between(20, 50));
  lab.pair.world.network.reset('A', lab.pair.primary.name);
  lane.release();
}

const waitForNothing: Failure = {
  id: 'S36b',
  title:
    'the reply to the grant is lost; the client asks again, writes nothing, and its WAIT counts replicas without the lock',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    holdReplication(lab);
    // ioredis sends SET again when it has dialled again.
    const granted = lab.as('A', async () => {
      const set = await a.set(L, 'A', 'PX', 600_000, 'NX');
      if (set !== 'OK' && (await a.get(L)) !== 'A') return false;
      return (await a.wait(1, 500)) >= 1;
    });
    await loseReplies(lab);
    if (await granted) lab.believe(L, 'A');
    await failOver(lab);
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const kind = anyKind(lab);
    const options = { replicas: 1, replicaTimeoutMs: 500 };
    const [a, b] = [await lab.locks('A', options), await lab.locks('B')];
    await (await lab.as('A', () => kind(a).acquire())).release(); // The scripts are known.
    await lab.advance(100);
    holdReplication(lab);
    const granted = lab.as('A', () =>
      kind(a)
        .tryAcquire()
        .catch(() => null),
    );
    await loseReplies(lab);
    const held = await granted;
    if (held) lab.trust(held);
    await failOver(lab);
    const other = await kind(b).tryAcquire({ waitMs: 1000 });
    if (other) lab.trust(other);
    return held || other ? lab.verdict() : ['nobody gets the lock'];
  },
};

const RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 3000) end";

const renewedOnOne: Failure = {
  id: 'S130',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 3000, 'NX');
    await a.wait(1, 1000); // The grant is copied, and nobody asks about what comes after it.
    const end = lab.believe(L, 'A');
    let told = false;
    const renew = async (): Promise<void> => {
      if ((await a.eval(RENEW, 1, L, 'A')) !== null) return;
      told = true;
      end();
    };
    lab.as('A', () => setInterval(() => void renew().catch(swallow), 1000)).catch(swallow);
    holdReplication(lab);
    await lab.advance(3000 + lab.between(500, 5000));
    await lab.pair.failover({ crash: true });
    const granted = (await b.set(L, 'B', 'PX', 3000, 'NX')) === 'OK';
    if (told) return null; // A's next renewal came before B's request.
    if (granted) lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const kind = anyKind(lab);
    const [a, b] = [
      await lab.locks('A', { leaseMs: 3000, replicas: 1, replicaTimeoutMs: 500 }),
      await lab.locks('B'),
    ];
    const held = await lab.as('A', () => kind(a).acquire());
    lab.trust(held);
    await lab.advance(lab.between(0, 10_000));
    if (held.signal.aborted) return ['the lock is lost though every renewal was copied'];
    holdReplication(lab);
    const extending = lab.as('A', () => held.extend(60_000).catch((error: Error) => error.name));
    await lab.advance(3000 + lab.between(500, 5000));
    await lab.pair.failover({ crash: true });
    const other = await kind(b).tryAcquire({ waitMs: 5000 });
    if (other) lab.trust(other);
    const name = await extending;
    if (name !== 'NotReplicated') return [`extend() came to ${name}`];
    return other ? lab.verdict() : ['nobody gets the lock'];
  },
};

const clockSetBack: Failure = {
  id: 'S132',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const validUntil = await lab.as('A', async () => {
      const until = Date.now() + 1000;
      await a.set(L, 'A', 'PX', 1000, 'NX');
      return until;
    });
    await lab.advance(lab.between(0, 900));
    lab.pair.world.actor('A').clock.jump(-lab.between(1000, 20_000));
    await lab.advance(1100);
    if (await lab.as('A', () => Date.now() < validUntil)) lab.believe(L, 'A');
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const held = await lab.as('A', () => a.simple(L).acquire({ leaseMs: 1000 }));
    const { signal } = held;
    await lab.advance(lab.between(0, 900));
    lab.pair.world.actor('A').clock.jump(-lab.between(1000, 20_000));
    await lab.advance(1100);
    const believes = await lab.as('A', () => {
      try {
        held.assertHeld();
        return true;
      } catch {
        return false;
      }
    });
    if (believes || !signal.aborted) lab.believe(L, 'A');
    const other = await b.simple(L).tryAcquire();
    if (other) lab.trust(other);
    return other ? lab.verdict() : ['the lease is over, and nobody gets the lock'];
  },
};

export const believed: readonly Failure[] = [waitForNothing, waitAlone, renewedOnOne, clockSetBack];
