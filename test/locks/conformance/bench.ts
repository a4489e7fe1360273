/** The bench of the conformance suite: a server under test, and the sets of locks that a case makes on it. */
import type { Redis } from 'ioredis';
import { type AnyClient, createLocks, type Locks, type LocksOptions } from '../../../locks/index.ts';

/** Opens ioredis clients of one server under test. */
export interface ServerUnderTest {
  /** Whether it is a cluster, where sessions are refused. */
  readonly isCluster?: boolean;
  /** A new connection to look with, and for the locks unless they have their own. */
  client(): Redis;
  /** A connection of another kind of client for the locks. */
  lockClient?(): { client: AnyClient; disconnect(): void };
  /** Runs the cases somewhere else, such as inside a virtual world. */
  run?(body: () => Promise<void>): Promise<void>;
  /** Ends the server and what the clients hold. */
  stop(): Promise<void>;
}

/** The channels that have subscribers; Sentinel has one of its own on every server. */
export async function channelsOf(raw: Redis): Promise<string[]> {
  const names = (await raw.pubsub('CHANNELS', '*')) as string[];
  return names.filter((name) => !name.startsWith('__sentinel__'));
}

/** What the cases work with: sets of locks, each with its own connection, and a connection to look with. */
export class Bench {
  readonly #server: ServerUnderTest;
  readonly #locks = new Map<Locks, { disconnect(): void }>();
  #names = 0;
  readonly raw: Redis;

  constructor(server: ServerUnderTest) {
    this.#server = server;
    this.raw = server.client();
  }

  get isCluster(): boolean {
    return this.#server.isCluster === true;
  }

  /** A name no other case uses. */
  name(): string {
    return `lock:${++this.#names}`;
  }

  /** A set of locks as another process would have it. */
  locks(options: LocksOptions = {}): Locks {
    const redis = this.#server.lockClient?.();
    const client = redis?.client ?? this.#server.client();
    const locks = createLocks(client, options);
    this.#locks.set(locks, redis ?? (client as Redis));
    return locks;
  }

  /** The process that has this set of locks dies: nothing of it reaches the server any more. */
  crash(locks: Locks): void {
    locks.close();
    this.#locks.get(locks)?.disconnect();
  }

  /** Closes what the case opened and empties the server. */
  async tidyUp(): Promise<void> {
    for (const locks of this.#locks.keys()) this.crash(locks);
    this.#locks.clear();
    await this.raw.flushall();
  }

  async end(): Promise<void> {
    await this.tidyUp();
    this.raw.disconnect();
  }
}
