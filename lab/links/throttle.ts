/** A limit on how many bytes per second one direction carries, on either clock. */

/** Messages of all connections share the limit: each one waits until those before it have been sent. */
export class Throttle {
  #bytesPerMs = Infinity;
  /** When everything so far will have been sent, in milliseconds. */
  #free = 0;

  /** Sets the limit for later messages; Infinity ends it. */
  limit(bytesPerSecond: number): void {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /**
   * Returns how many milliseconds pass until a message has been sent.
   * @param bytes its size
   * @param now milliseconds on the clock of the lane; never less than at the last call
   */
  send(bytes: number, now: number): number {
    if (this.#bytesPerMs === Infinity || bytes === 0) return 0;
    this.#free = Math.max(this.#free, now) + bytes / this.#bytesPerMs;
    return this.#free - now;
  }
}
