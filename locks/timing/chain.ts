/**
 * A linked list: members are added and removed in constant time.
 *
 * Set and Map do that too, but one that constantly adds and deletes keeps replacing its table, and an old table that the
 * garbage collector has promoted keeps all later tables and their contents alive until a full collection.
 */

/** A member of a chain; it can be in one chain at a time. */
export class ChainLink {
  /** Its neighbours. The chain's own link joins its first and last member. */
  before: ChainLink | undefined = undefined;
  after: ChainLink | undefined = undefined;

  get linked(): boolean {
    return this.after !== undefined;
  }

  /** Removes it from its chain; false when it is in none. */
  unlink(): boolean {
    const { before, after } = this;
    if (!before || !after) return false;
    before.after = after;
    after.before = before;
    this.before = undefined; // So that a removed link keeps no other alive.
    this.after = undefined;
    return true;
  }
}

/** A circular linked list. */
export class Chain<T extends ChainLink> {
  readonly #ends = new ChainLink();

  constructor() {
    this.#ends.before = this.#ends;
    this.#ends.after = this.#ends;
  }

  get empty(): boolean {
    return this.#ends.after === this.#ends;
  }

  /** Adds it at the end, unless it is in a chain already. */
  add(link: T): void {
    if (link.linked) return;
    const last = this.#ends.before!;
    link.before = last;
    link.after = this.#ends;
    last.after = link;
    this.#ends.before = link;
  }

  /** A copy of the present members, in the order in which they were added. */
  members(): T[] {
    const members: T[] = [];
    for (let link = this.#ends.after!; link !== this.#ends; link = link.after!) members.push(link as T);
    return members;
  }

  clear(): void {
    for (const link of this.members()) link.unlink();
  }
}
