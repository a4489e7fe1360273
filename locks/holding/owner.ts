/** Who holds a lock: in Node not a thread but an async context, a name, or a single acquisition. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';

/** How many random bytes are asked for at once: asking costs more than the bytes. */
const POOL = 768;

/** As whom code runs: in its own set of locks, and in those around it. */
interface Context {
  readonly owners: Owners;
  readonly owner: string;
  readonly outer: Context | undefined;
}

/**
 * One for all sets of locks: up to Node 22 each AsyncLocalStorage that was ever used makes every promise of the process
 * slower, and is never let go of.
 */
const contexts = new AsyncLocalStorage<Context>();

/** The owners of one set of locks. An owner's full name is `<client id>:<owner id>`, as Redisson's is. */
export class Owners {
  /** Random, one per `createLocks`: no two processes share an owner by accident. */
  readonly clientId: string;
  /** Random characters, 6 bits each. */
  #pool = '';
  #used = 0;
  #requests = 0;
  readonly #requestPrefix = randomBytes(12).toString('base64url');
  /** What the full names of owners begin with that are made for one acquisition, and of those made for one task. */
  readonly #oncePrefix: string;
  readonly #taskPrefix: string;

  constructor(clientId: string = randomUUID()) {
    this.clientId = clientId;
    this.#oncePrefix = `${clientId}:once.`;
    this.#taskPrefix = `${clientId}:task.`;
  }

  /** The owner for an acquisition: the named one, else that of the async context, else a new one of its own. */
  choose(named?: string): string {
    if (named !== undefined) return `${this.clientId}:${named}`;
    return this.#current() ?? this.#oncePrefix + this.request();
  }

  /** Runs `fn` as a new owner: all that it and what it starts acquires belongs together, and re-enters. */
  run<T>(fn: () => T): T {
    return this.runAs(`${this.clientId}:${this.#random(16)}`, fn);
  }

  /** The owner for a task that may acquire more than once: one made for an acquisition gives way to one for the task. */
  forTask(owner: string): string {
    return this.isAlone(owner) ? this.#taskPrefix + this.request() : owner;
  }

  /** Whether an owner was made for one acquisition: nobody else ever asks in its name. */
  isAlone(owner: string): boolean {
    return owner.startsWith(this.#oncePrefix);
  }

  /** Whether an owner may come back for the same lock: one that has a name, or a context of its own. */
  isLasting(owner: string): boolean {
    return !this.isAlone(owner) && !owner.startsWith(this.#taskPrefix);
  }

  /** Runs `fn` as the given owner. */
  runAs<T>(owner: string, fn: () => T): T {
    return contexts.run({ owners: this, owner, outer: without(contexts.getStore(), this) }, fn);
  }

  /** The owner of the async context, if this set of locks has one there. */
  #current(): string | undefined {
    let context = contexts.getStore();
    while (context && context.owners !== this) context = context.outer;
    return context?.owner;
  }

  /** A random value nobody else has: 162 bits. */
  token(): string {
    return this.#random(27);
  }

  /** A name for a request, or for who makes one, that no other has. */
  request(): string {
    return `${this.#requestPrefix}.${(++this.#requests).toString(36)}`;
  }

  #random(characters: number): string {
    if (this.#used + characters > this.#pool.length) {
      this.#pool = randomBytes(POOL).toString('base64url');
      this.#used = 0;
    }
    this.#used += characters;
    return this.#pool.slice(this.#used - characters, this.#used);
  }
}

/** The context without the owners' own part, which is to be replaced: however often code runs as somebody else, none piles up. */
function without(context: Context | undefined, owners: Owners): Context | undefined {
  if (context === undefined || context.owners === owners) return context?.outer;
  return { ...context, outer: without(context.outer, owners) };
}
