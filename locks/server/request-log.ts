/**
 * Numbers for requests that must have their effect only once. The server remembers what each request did until this client
 * has all replies up to it, and refuses it from then on. So a late copy changes nothing, for example one that a client
 * library sent again after a lost connection.
 */
import { prefixed } from '../keys.ts';

/** How long the server remembers requests, in milliseconds: longer than a copy can be under way, and than most outages last. */
export const REMEMBER_MS = 3_600_000;

/** The number, up to which number all replies were received, and how many milliseconds to remember it. */
export type OnceArgs = readonly [number: number, heard: number, rememberMs: number];

/** The numbered requests of one `createLocks` call. */
export class RequestLog {
  readonly #client: string;
  readonly #open = new Set<number>();
  #last = 0;

  /** @param client a unique name of this client */
  constructor(client: string) {
    this.#client = client;
  }

  /** Returns a new number, which stays open until settle(). */
  open(): number {
    this.#open.add(++this.#last);
    return this.#last;
  }

  /** The reply came, or nothing waits for it any more: later copies of the request are refused. */
  settle(number: number): void {
    this.#open.delete(number);
  }

  /** The key where the server remembers this client's requests for the lock of that name. */
  key(name: string): string {
    return `${prefixed('lostlock_requests', name)}:${this.#client}`;
  }

  /** The first arguments of scripts that begin with `once` (scripts/once.ts). */
  args(number: number, rememberMs: number = REMEMBER_MS): OnceArgs {
    return [number, this.#heard(), rememberMs];
  }

  /** The number up to which all are settled. */
  #heard(): number {
    for (const first of this.#open) return first - 1;
    return this.#last;
  }
}
