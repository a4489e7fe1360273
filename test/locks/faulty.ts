/** A client whose requests and replies get lost, delayed or doubled: what a network does to a lock. */
import type { LockClient, RedisCommand, Settled } from '../../locks/index.ts';

/**
 * What happens to one command: `lose-request`: it never arrives · `lose-reply`: it is executed, the reply is lost ·
 * `reset`: it is executed, the connection breaks · `late`: the caller sees a broken connection, and the command
 * arrives when `deliverLate` is called · `twice`: it is executed, and once more by `deliverLate`.
 */
export type Fault = 'lose-request' | 'lose-reply' | 'reset' | 'late' | 'twice';

export interface FaultyClient extends LockClient {
  /** Asked for every script call and every SET; undefined lets it pass. */
  fault: (command: RedisCommand) => Fault | undefined;
  /** Faults that fired. */
  readonly fired: Fault[];
  /** Delivers the commands that are still under way. */
  deliverLate(): Promise<void>;
}

/** Injects faults between the locks and a client. PING, INFO and the like pass unharmed. */
export function faulty(inner: LockClient): FaultyClient {
  const fired: Fault[] = [];
  const late: RedisCommand[] = [];
  const never = (): Promise<never> => new Promise<never>(() => {});
  const client: FaultyClient = {
    cluster: inner.cluster,
    sharded: inner.sharded,
    fault: () => undefined,
    fired,
    send: async (command) => {
      const fault = /^(evalsha|eval|set)$/.test(command[0] ?? '') ? client.fault(command) : undefined;
      if (fault) fired.push(fault);
      switch (fault) {
        case undefined:
          return inner.send(command);
        case 'lose-request':
          return never();
        case 'lose-reply':
          await inner.send(command);
          return never();
        case 'reset':
          await inner.send(command);
          throw new Error('Connection is closed.');
        case 'late':
          late.push(command);
          throw new Error('Connection is closed.');
        case 'twice':
          late.push(command);
          return inner.send(command);
      }
    },
    sendAll: (commands): Promise<Settled[]> =>
      Promise.allSettled(commands.map((command) => client.send(command))),
    openSubscriber: (events) => inner.openSubscriber(events),
    deliverLate: async () => {
      await Promise.allSettled(late.splice(0).map((command) => inner.send(command)));
    },
  };
  return client;
}

/** The same faults for the same seed: each command is hit with the given probability. */
export function randomFaults(seed: number, probability: number): () => Fault | undefined {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const kinds: Fault[] = ['lose-request', 'lose-reply', 'reset', 'late', 'twice'];
  return () => (next() < probability ? kinds[Math.floor(next() * kinds.length)] : undefined);
}
