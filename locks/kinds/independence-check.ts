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
  #begun = false;
  #fault: string | undefined;

  constructor(servers: readonly LockServer[]) {
    this.#servers = servers;
  }

  /**
   * Throws BadConfiguration for a known fault. Only the first call waits for the servers to identify themselves, for
   * `limitMs` milliseconds at most; those that did not reply are asked again by later calls.
   */
  async check(lock: string, limitMs: number): Promise<void> {
    const { length } = this.#servers;
    if (length < 3 || length % 2 === 0) {
      throw new BadConfiguration(lock, `Redlock needs an odd number of servers, 3 or more, not ${length}`);
    }
    if (this.#ids.size < length) {
      const unknown = this.#servers.filter((server) => !this.#ids.has(server) && !this.#asking.has(server));
      const asked = askAll(unknown, unknown.length, limitMs, (server) => this.#ask(server));
      if (!this.#begun) await asked;
      this.#begun = true;
    }
    const fault = this.#fault;
    if (fault === undefined) return;
    this.#fault = undefined; // It may be fixed by the next call: all servers are asked again.
    this.#ids.clear();
    this.#begun = false;
    throw new BadConfiguration(lock, fault);
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
