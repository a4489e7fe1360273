/** What the commands of one execution unit have done, as they will enter the replication stream. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import type { Bytes } from '../protocol/bytes.ts';
import type { Effect } from './ports.ts';

/** The effects of the present execution unit, in order. */
export class Effects {
  /** True while there is a replica, a backlog or an observer to propagate to. */
  feeding = false;
  /** What the running command propagates instead of itself. */
  rewritten: readonly (readonly Bytes[])[] | undefined;
  #noted: Effect[] = [];

  /** True when the unit has done nothing yet that replicas must do. */
  get isEmpty(): boolean {
    return this.#noted.length === 0;
  }

  /** Notes what the running command did: itself, or what `propagateAs` has put in its place. */
  propagate({ db }: { readonly db: Keyspace }, argv: readonly Bytes[]): void {
    if (this.rewritten === undefined) this.#noted.push({ db: db.index, argv });
    else for (const effect of this.rewritten) this.#noted.push({ db: db.index, argv: effect });
  }

  /** The running command propagates these commands instead of itself; none: nothing. */
  propagateAs(...commands: readonly (readonly Bytes[])[]): void {
    this.rewritten = commands;
  }

  /** Adds a command to the stream beside the running one (an expired key's DEL, a popped element). */
  propagateAlso(db: Keyspace, argv: readonly Bytes[]): void {
    if (this.feeding) this.#noted.push({ db: db.index, argv });
  }

  /** Takes out what was noted. */
  take(): Effect[] {
    const noted = this.#noted;
    this.#noted = [];
    return noted;
  }
}
