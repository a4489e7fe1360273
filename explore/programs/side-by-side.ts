/** How many worlds are played side by side: more of them while the machine keeps up, fewer when it does not. */

/** How many worlds begin side by side, and after how many good ones another one joins. */
const [FIRST_BESIDE, GOOD_BEFORE_MORE] = [4, 6];
/** The part of the worlds side by side that goes on when the machine did not keep up. */
const KEPT = 0.8;

/** The number of worlds side by side. */
export class SideBySide {
  readonly #most: number;
  #now: number;
  #good = 0;
  /** When the number was lowered last. */
  #lowered = -Infinity;

  /** @param most how many worlds are played side by side at most */
  constructor(most: number) {
    this.#most = most;
    this.#now = Math.min(FIRST_BESIDE, most);
  }

  /** How many worlds are played side by side now. */
  get now(): number {
    return this.#now;
  }

  /** The machine kept up in a world. */
  keptUp(): void {
    if (++this.#good < GOOD_BEFORE_MORE) return;
    this.#good = 0;
    this.#now = Math.min(this.#most, this.#now + 1);
  }

  /**
   * The machine did not keep up in a world. All worlds that are played notice one stall; those that had begun before the number was
   * lowered do not lower it again.
   * @param begun when the world began, as performance.now() has it
   */
  stalled(begun: number): void {
    this.#good = 0;
    if (begun < this.#lowered) return;
    this.#lowered = performance.now();
    this.#now = Math.max(1, Math.floor(this.#now * KEPT));
  }
}
