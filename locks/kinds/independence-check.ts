/** Checks the servers of a Redlock: an odd number, all primaries, all different. */
import { BadConfiguration } from '../errors.ts';
import { isTransient } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { askAll } from './majority.ts';

/** Redlock is safe only if any two majorities share a server, and each server votes once. */
export class IndependenceCheck {
  readonly #servers: readonly LockServer[];
  /** The run ids of the servers, as far as they are known. */
  readonly #ids = new Map<LockServer, string>();
  readonly #asking = new Set<LockServer>();
  /** Settles when the first servers that were asked have answered. */
  #first: Promise<unknown> | undefined;
  #fault: string | undefined;
  /** The fault was reported. It may be fixed by the next call, which asks all servers again. */
  #isReported = false;

  constructor(servers: readonly LockServer[]) {
    this.#servers = servers;
  }

  /**
   * Throws BadConfiguration for a known fault. Until the servers have identified themselves to the first call, or did not
   * do so within `limitMs` milliseconds, all calls wait for them; those that did not reply are asked again by later calls.
   */
  async check(lock: string, limitMs: number): Promise<void> {
    const { length } = this.#servers;
    if (length < 3 || length % 2 === 0) {
      throw new BadConfiguration(lock, `Redlock needs an odd number of servers, 3 or more, not ${length}`);
    }
    if (this.#isReported) this.#forget();
    if (this.#ids.size < length) {
      const unknown = this.#servers.filter((server) => !this.#ids.has(server) && !this.#asking.has(server));
      const asked = askAll(unknown, unknown.length, limitMs, (server) => this.#ask(server));
      this.#first ??= asked;
      await this.#first;
    }
    if (this.#fault === undefined) return;
    this.#isReported = true;
    throw new BadConfiguration(lock, this.#fault);
  }

  #forget(): void {
    this.#isReported = false;
    this.#fault = undefined;
    this.#ids.clear();
    this.#first = undefined;
  }

  async #ask(server: LockServer): Promise<true> {
    this.#asking.add(server);
    try {
      this.#note(server, String(await server.command(['INFO'])));
    } catch (error) {
      // A server whose user may not run INFO is trusted.
      if (!isTransient(error)) this.#ids.set(server, `unknown ${this.#ids.size}`);
    }
    this.#asking.delete(server);
    return true;
  }

  #note(server: LockServer, info: string): void {
    const id = /run_id:(\w+)/.exec(info)?.[1] ?? `unknown ${this.#ids.size}`;
    if ([...this.#ids.values()].includes(id)) {
      this.#fault = `Redlock's servers must be independent, but two of them are ${id}`;
    } else if (/role:slave/.test(info)) {
      this.#fault = `Redlock's servers must be primaries, but ${id} is a replica`;
    }
    this.#ids.set(server, id);
  }
}
