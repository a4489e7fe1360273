/** The effects of one execution unit, collected for the replication stream. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import type { Bytes } from '../protocol/bytes.ts';
import type { Effect } from './ports.ts';

/** The effects of the current execution unit, in order. */
export class Effects {
  /** True while there is a replica, a backlog or an observer to propagate to. */
  feeding = false;
  /** The commands that the running command propagates instead of itself. */
  rewritten: readonly (readonly Bytes[])[] | undefined;
  /** True if a noted effect does not go everywhere. */
  limited = false;
  #noted: Effect[] = [];

  /** True while the unit has nothing to propagate. */
  get isEmpty(): boolean {
    return this.#noted.length === 0;
  }

  /**
   * Notes the effect of the running command: the command itself, or the commands given to `propagateAs`.
   * @param to the only place that it goes to, if it does not go everywhere
   */
  propagate({ db }: { readonly db: Keyspace }, argv: readonly Bytes[], to?: Effect['to']): void {
    if (to !== undefined) {
      this.limited = true;
      for (const effect of this.rewritten ?? [argv]) this.#noted.push({ db: db.index, argv: effect, to });
    } else if (this.rewritten === undefined) this.#noted.push({ db: db.index, argv });
    else for (const effect of this.rewritten) this.#noted.push({ db: db.index, argv: effect });
  }

  /** Makes the running command propagate these commands instead of itself. Without arguments it propagates nothing. */
  propagateAs(...commands: readonly (readonly Bytes[])[]): void {
    this.rewritten = commands;
  }

  /** Adds a command to the stream beside the running one, such as the pop of a client that was blocked. */
  propagateAlso(db: Keyspace, argv: readonly Bytes[]): void {
    if (this.feeding) this.#noted.push({ db: db.index, argv });
  }

  /** Adds what the node does by itself, whatever command is running, such as the DEL of an expired key. */
  propagateOwn(db: Keyspace, argv: readonly Bytes[]): void {
    if (this.feeding) this.#noted.push({ db: db.index, argv, own: true });
  }

  /** Returns the noted effects and forgets them. */
  take(): Effect[] {
    const noted = this.#noted;
    this.#noted = [];
    this.limited = false;
    return noted;
  }
}
