/**
 * A list whose members come and go in one step each.
 *
 * Sets and Maps do that too; but one that takes in and lets go all the time replaces its table all the time, and an old
 * table that the garbage collector has promoted keeps all later ones, and what was in them, until a full collection.
 */

/** What can be in a chain, in one at a time. */
export class ChainLink {
  /** Its neighbours in the chain, whose two ends are tied to the chain's own link. */
  before: ChainLink | undefined = undefined;
  after: ChainLink | undefined = undefined;

  get linked(): boolean {
    return this.after !== undefined;
  }

  /** Leaves its chain; false when it is in none. */
  unlink(): boolean {
    const { before, after } = this;
    if (!before || !after) return false;
    before.after = after;
    after.before = before;
    this.before = undefined; // What is gone keeps nobody alive.
    this.after = undefined;
    return true;
  }
}

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

  /** The members of this moment, in the order in which they came. */
  members(): T[] {
    const members: T[] = [];
    for (let link = this.#ends.after!; link !== this.#ends; link = link.after!) members.push(link as T);
    return members;
  }

  clear(): void {
    for (const link of this.members()) link.unlink();
  }
}
