/** Failures S72 to S74, S77, S79 and S80: messages that are lost, doubled or sent to the wrong connection. */
import { Redis } from 'ioredis';
import { connectorTo } from '../../../lab/virtual/connector.ts';
import { exclusiveForms, type Failure, type Lab } from './lab.ts';

const L = 'lock';
const CHANNEL = 'channel';
const swallow = (): void => {};

/** A client that stays with one node, whichever node is primary. */
function clientOf(lab: Lab, name: string, node: Lab['pair']['primary']): Promise<Redis> {
  const Connector = connectorTo(lab.pair.world, () => node.address) as never;
  return lab.as(name, () => {
    const redis = new Redis({ Connector });
    redis.on('error', swallow);
    return redis;
  });
}

/** Waits for one message, or until the lease that it saw has ended, and takes the lock. */
async function takeOnMessage(lab: Lab, redis: Redis, messages: Redis, channel: string): Promise<void> {
  await lab.as('B', async () => {
    await messages.subscribe(channel);
    while ((await redis.set(L, 'B', 'PX', 30_000, 'NX')) !== 'OK') {
      const left = await redis.pttl(L);
      await new Promise<void>((resolve) => {
        setTimeout(resolve, left);
        messages.once('message', () => resolve());
      });
    }
  });
}

const late = (ms: number): string[] => (ms > 3000 ? [`woken ${ms} ms after the release`] : []);

/** A releases while B waits; checks how late B gets the lock. */
async function oursInTime(lab: Lab, harm: () => unknown): Promise<string[]> {
  const [a, b] = [await lab.locks('A'), await lab.locks('B', { maxSleepMs: 600_000 })];
  const held = await a.simple(L).acquire();
  const waiting = lab.as('B', () => b.simple(L).acquire());
  await lab.advance(lab.between(100, 1000));
  await harm();
  await held.release();
  const at = Date.now();
  await waiting;
  return late(Date.now() - at);
}

const elsewhere: Failure = {
  id: 'S72',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const messages = await clientOf(lab, 'B', lab.pair.replica);
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    const waiting = takeOnMessage(lab, b, messages, CHANNEL);
    await lab.advance(lab.between(100, 1000));
    lab.pair.link.hold();
    await a.multi().del(L).publish(CHANNEL, '0').exec();
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
  ours: (lab) => oursInTime(lab, () => lab.pair.link.hold()),
};

const forNothing: Failure = {
  id: 'S73, S74',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    lab.believe(L, 'A');
    const waiting = lab.as('B', async () => {
      await messages.subscribe(CHANNEL);
      await new Promise((resolve) => messages.once('message', resolve));
      await b.set(L, 'B', 'PX', 30_000);
      lab.believe(L, 'B');
    });
    await lab.advance(lab.between(50, 500));
    await lab.raw.publish(CHANNEL, '0');
    await waiting;
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const ends: (() => void)[] = [];
    for (const { make, name } of exclusiveForms) {
      ends.push(lab.trust(await make(a, name).acquire()));
      lab.as('B', async () => lab.trust(await make(b, name).acquire({ waitMs: 5000 }))).catch(swallow);
    }
    await lab.advance(lab.between(50, 500));
    const channels = (await lab.raw.pubsub('CHANNELS', '*')) as string[];
    for (const channel of channels) {
      for (let i = lab.between(1, 3); i > 0; i--) await lab.raw.publish(channel, '0');
    }
    await lab.advance(10_000);
    return channels.length >= exclusiveForms.length ? lab.verdict() : [`only ${channels} are heard`];
  },
};

const wokenForOne: Failure = {
  id: 'S77 (two permits); Redisson 6664, 6687',
  title: 'a waiter for two permits is woken for one, and sleeps on when the other is released',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await lab.raw.set(L, 0);
    let got = false;
    const take = async (): Promise<boolean> => {
      got ||= Number(await b.get(L)) >= 2 && (await b.decrby(L, 2)) >= 0;
      return got;
    };
    const waiting = lab.as('B', async () => {
      await messages.subscribe(CHANNEL);
      if (await take()) return;
      await new Promise((resolve) => messages.once('message', resolve)); // One waiter, one wake-up.
      await take();
    });
    waiting.catch(swallow);
    for (let i = 0; i < 2; i++) {
      await lab.advance(lab.between(50, 500));
      await a.multi().incr(L).publish(CHANNEL, '1').exec();
    }
    await lab.advance(60_000);
    return got ? [] : ['both permits are free, and who wants two sleeps'];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B', { maxSleepMs: 600_000 })];
    await a.semaphore(L).trySetPermits(2);
    const first = await a.semaphore(L).acquire();
    const second = await a.semaphore(L).acquire();
    const waiting = lab.as('B', () => b.semaphore(L).acquire({ permits: 2 }));
    for (const held of [first, second]) {
      await lab.advance(lab.between(50, 500));
      await held.release();
    }
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
};

const oneConnection: Failure = {
  id: 'S79',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B', { protocol: 2 })];
    await a.set(L, 'A', 'PX', 1000, 'NX');
    const outcome = await Promise.race([
      takeOnMessage(lab, b, b, CHANNEL).catch((error: Error) => error.message),
      lab.advance(lab.between(2000, 10_000)),
    ]);
    return outcome === undefined && (await lab.raw.get(L)) === 'B' ? [] : [`not to be had: ${outcome}`];
  },
  ours: async (lab) => {
    const client = await lab.redis('B', { protocol: 2 });
    const [a, b] = [await lab.locks('A'), await lab.locksOver('B', client)];
    await a.simple(L).acquire({ leaseMs: 1000 });
    const waiting = lab.as('B', () => b.simple(L).acquire({ waitMs: 5000 }));
    await lab.advance(lab.between(100, 500));
    await lab.as('B', () => client.set('data', '1')); // The caller's connection stays an ordinary one all the time.
    const held = await waiting.catch((error: Error) => error.message);
    return typeof held === 'string' ? [`not to be had: ${held}`] : [];
  },
};

const keyspaceEvents: Failure = {
  id: 'S80',
  naive: async (lab) => {
    await lab.raw.config('SET', 'notify-keyspace-events', 'KEA');
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    const waiting = takeOnMessage(lab, b, messages, `__keyspace@0__:${L}`);
    await lab.advance(lab.between(100, 1000));
    await lab.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await a.del(L);
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
  ours: (lab) => oursInTime(lab, () => lab.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub')),
};

export const messages: readonly Failure[] = [
  elsewhere,
  forNothing,
  wokenForOne,
  oneConnection,
  keyspaceEvents,
];
