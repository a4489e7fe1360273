/**
 * Requests that may have their effect once only: they are numbered, and the server remembers what each did until this
 * client has heard all answers up to it; from then on it refuses them. So a copy may come as late as it likes (a client
 * sends again what a broken connection left open, and the first may be under way still) and changes nothing.
 */
import { prefixed } from '../keys.ts';

/** For how long the server remembers after the last request, in milliseconds: longer than any copy is under way. */
const REMEMBER_MS = 60_000;

/** Number, up to which all are heard, for how many milliseconds to remember. */
export type OnceArgs = readonly [number: number, heard: number, rememberMs: number];

/** The numbered requests of one set of locks. */
export class RequestLog {
  readonly #client: string;
  readonly #open = new Set<number>();
  #last = 0;

  /** @param client a name that no other client has */
  constructor(client: string) {
    this.#client = client;
  }

  /** A new number. It stays open until it is settled. */
  open(): number {
    this.#open.add(++this.#last);
    return this.#last;
  }

  /** Its answer was heard, or nobody waits for it any more: a copy of it that comes from now on is refused. */
  settle(number: number): void {
    this.#open.delete(number);
  }

  /** The key under which the server remembers this client's requests for something of that name. */
  key(name: string): string {
    return `${prefixed('lostlock_requests', name)}:${this.#client}`;
  }

  /** The first arguments of every script that begins with `once` (scripts/once.ts). */
  args(number: number, rememberMs: number = REMEMBER_MS): OnceArgs {
    return [number, this.#heard(), rememberMs];
  }

  /** All up to this one are settled. */
  #heard(): number {
    for (const first of this.#open) return first - 1;
    return this.#last;
  }
}
