/** Lock owners: in Node an owner is not a thread but an async context, a name, or a single acquisition. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';

/** How many random bytes to generate at once: each call costs more than the bytes. */
const POOL = 768;

/** The owner as which code runs, for one `createLocks` call, and the contexts around it. */
interface Context {
  readonly owners: Owners;
  readonly owner: string;
  readonly outer: Context | undefined;
}

/**
 * Shared by all `createLocks` calls: up to Node 22 every AsyncLocalStorage that was ever used slows down every promise of
 * the process, and is never freed.
 */
const contexts = new AsyncLocalStorage<Context>();

/** The owners of one `createLocks` call. An owner's full name is `<client id>:<owner id>`, as in Redisson. */
export class Owners {
  /** Random, one per `createLocks`: no two processes share an owner by accident. */
  readonly clientId: string;
  /** Random characters, 6 bits each. */
  #pool = '';
  #used = 0;
  #requests = 0;
  readonly #requestPrefix = randomBytes(12).toString('base64url');
  /** The prefixes of the full names of owners made for one acquisition, and for one task. */
  readonly #oncePrefix: string;
  readonly #taskPrefix: string;

  constructor(clientId: string = randomUUID()) {
    this.clientId = clientId;
    this.#oncePrefix = `${clientId}:once.`;
    this.#taskPrefix = `${clientId}:task.`;
  }

  /** The owner of an acquisition: the named one, else that of the async context, else a new one. */
  choose(named?: string): string {
    if (named !== undefined) return `${this.clientId}:${named}`;
    return this.#current() ?? this.#oncePrefix + this.request();
  }

  /** Runs `fn` as a new owner, which all acquisitions in it, and in the async work it starts, share. */
  run<T>(fn: () => T): T {
    return this.runAs(`${this.clientId}:${this.#random(16)}`, fn);
  }

  /** The owner for a task that may acquire several times: an owner made for one acquisition is replaced by a new one. */
  forTask(owner: string): string {
    return this.isAlone(owner) ? this.#taskPrefix + this.request() : owner;
  }

  /**
   * The owner for another try. One made for one acquisition is replaced: a release that goes on in the background, because the server
   * refused it, would otherwise end what the next try has got.
   */
  another(owner: string): string {
    return this.isAlone(owner) ? this.#oncePrefix + this.request() : owner;
  }

  /** Whether an owner was made for one acquisition, so that no other acquisition has it. */
  isAlone(owner: string): boolean {
    return owner.startsWith(this.#oncePrefix);
  }

  /** Whether an owner may acquire the same lock again later: a named one, or that of a context. */
  isLasting(owner: string): boolean {
    return !this.isAlone(owner) && !owner.startsWith(this.#taskPrefix);
  }

  /** Runs `fn` as the given owner. */
  runAs<T>(owner: string, fn: () => T): T {
    return contexts.run({ owners: this, owner, outer: without(contexts.getStore(), this) }, fn);
  }

  /** The owner of the async context, if it has one for this `createLocks` call. */
  #current(): string | undefined {
    let context = contexts.getStore();
    while (context && context.owners !== this) context = context.outer;
    return context?.owner;
  }

  /** A random token of 162 bits. */
  token(): string {
    return this.#random(27);
  }

  /** A unique name for a request, or for the owner of one. */
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

/** The context without the part of these owners, which is being replaced, so that nested contexts do not pile up. */
function without(context: Context | undefined, owners: Owners): Context | undefined {
  if (context === undefined || context.owners === owners) return context?.outer;
  return { ...context, outer: without(context.outer, owners) };
}
