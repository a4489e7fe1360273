/** The data of a running server: stored, read and removed as plain values. */
import { empty } from '../../server/commands/node/server.ts';
import { type DumpEntry, dump, type Seed } from '../dataset.ts';
import type { Door } from './door.ts';
import { seed } from './seed.ts';

/** The data of the node behind a door. */
export class Contents {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Stores keys, overwriting existing ones, in one step. Throws TypeError for invalid data and then stores nothing. */
  seed(data: Seed): void {
    seed(this.#door.node, data);
  }

  /** Every key as plain values, in the form that `seed` accepts. */
  dump(): DumpEntry[] {
    return dump(this.#door.node);
  }

  /** Removes every key of every database. */
  flush(): void {
    const { node } = this.#door;
    node.unit(() => {
      empty(node, node.databases);
      node.effects.propagateAlso(node.db(0), ['FLUSHALL']);
    });
    node.settle();
  }
}
