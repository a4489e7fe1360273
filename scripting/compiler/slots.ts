/** Slots for the variables of blocks: names that are used again when their block has ended. */

/**
 * A function that declares more variables keeps them in slots. Lua allows 200 at a time, so they are in blocks that follow each other.
 * For V8 each declaration is a register of the whole function. A generator saves all its registers at each `yield`, and
 * V8 counts what it saves in 32 bits: with 65,536 variables and as many calls it ends the process.
 */
export const MANY_VARIABLES = 256;

/** A generator may save so many registers in all its `yield`s. Half of what V8 can count. */
export const MOST_SAVED = 2 ** 31;

/** The slots of one function. */
export class Slots {
  readonly names: string[] = [];
  readonly #free: string[] = [];
  readonly #taken: string[] = [];

  take(): string {
    let name = this.#free.pop();
    if (name === undefined) this.names.push((name = `u${this.names.length}`));
    this.#taken.push(name);
    return name;
  }

  /** How many slots are taken. */
  get taken(): number {
    return this.#taken.length;
  }

  /** Frees those that were taken last, until so many are left. */
  freeAfter(taken: number): void {
    this.#free.push(...this.#taken.splice(taken));
  }
}
