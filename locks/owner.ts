/** Who holds a lock: in Node not a thread but an async context, a name, or a single acquisition. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';

/** A random value nobody else has: 20 bytes. */
export const randomToken = (): string => randomBytes(20).toString('base64url');

/** The owners of one set of locks. An owner's full name is `<client id>:<owner id>`, as Redisson's is. */
export class Owners {
  /** Random, one per `createLocks`: no two processes share an owner by accident. */
  readonly clientId: string;
  readonly #context = new AsyncLocalStorage<string>();

  constructor(clientId: string = randomUUID()) {
    this.clientId = clientId;
  }

  /** The owner for an acquisition: the named one, else that of the async context, else a new one of its own. */
  choose(named?: string): string {
    if (named !== undefined) return `${this.clientId}:${named}`;
    return this.#context.getStore() ?? this.#fresh();
  }

  /** Runs `fn` as a new owner: all that it and what it starts acquires belongs together, and re-enters. */
  run<T>(fn: () => T): T {
    return this.#context.run(this.#fresh(), fn);
  }

  /** Runs `fn` as the given owner. */
  runAs<T>(owner: string, fn: () => T): T {
    return this.#context.run(owner, fn);
  }

  #fresh(): string {
    return `${this.clientId}:${randomBytes(12).toString('base64url')}`;
  }
}
