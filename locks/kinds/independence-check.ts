/** Whether the servers of a Redlock are what it needs: odd in number, primaries, and none of them there twice. */
import { BadConfiguration } from '../errors.ts';
import { isTransient } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { askAll } from './majority.ts';

/** Two majorities must always share a server, and a vote must be its server's own. */
export class IndependenceCheck {
  readonly #servers: readonly LockServer[];
  /** The servers' run ids, as far as they have told them. */
  readonly #ids = new Map<LockServer, string>();
  readonly #asking = new Set<LockServer>();
  #begun = false;
  #fault: string | undefined;

  constructor(servers: readonly LockServer[]) {
    this.#servers = servers;
  }

  /**
   * Throws BadConfiguration for what is known to be wrong. Only the first time it waits for the servers to say who
   * they are, and not longer than `limitMs` milliseconds: who was away then is asked again along with later locks.
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
    this.#fault = undefined; // It may have been mended by the next time: all are asked again.
    this.#ids.clear();
    this.#begun = false;
    throw new BadConfiguration(lock, fault);
  }

  async #ask(server: LockServer): Promise<true> {
    this.#asking.add(server);
    try {
      this.#note(server, String(await server.command(['INFO'])));
    } catch (error) {
      // Who may not tell (no permission) is trusted.
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
