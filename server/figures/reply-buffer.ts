/** The size that Redis gives each client's reply buffer: `rbs` and `rbp` of CLIENT LIST. No memory is kept here. */
import type { Millis } from '../../protocol/bytes.ts';

/** In bytes. */
const LARGEST = 16 * 1024;
const SMALLEST = 1024;
/** After this many milliseconds, Redis forgets how much of the buffer was used. */
const RESET_AFTER: Millis = 5000;

/** How a node resizes the buffers. DEBUG REPLYBUFFER changes it. */
export class ReplyBufferRules {
  /** In milliseconds; undefined: the peak is never forgotten. */
  resetAfter: Millis | undefined = RESET_AFTER;
  resizes = true;

  /** Returns to the usual time. */
  reset(): void {
    this.resetAfter = RESET_AFTER;
  }
}

/** The node, as the buffers see it. */
interface BufferNode {
  readonly now: Millis;
  readonly settings: { readonly hz: number };
  readonly replyBuffers: ReplyBufferRules;
  readonly stats: { replyBufferShrinks: number; replyBufferExpands: number };
}

/**
 * The size of one client's reply buffer. Redis' cron checks each buffer `hz` times a second. It shrinks a buffer
 * to half of its size or less if less than half was used, and doubles a buffer that was full. Here the checks that are due
 * are made when the size is read, and when the client uses the buffer.
 */
export class ReplyBuffer {
  readonly #node: BufferNode;
  #size = LARGEST;
  /** The most bytes that were used at once since the last reset. */
  #peak = LARGEST;
  #resetAt: Millis = -Infinity;
  /** When Redis' cron would look next. */
  #next: Millis;

  constructor(node: BufferNode) {
    this.#node = node;
    this.#next = node.now + this.#period;
  }

  /** The size and the peak now, in bytes. */
  read(): { size: number; peak: number } {
    this.#catchUp();
    return { size: this.#size, peak: this.#peak };
  }

  /** Notes that this many bytes were sent at once. */
  use(bytes: number): void {
    if (this.#node.now >= this.#next) this.#catchUp();
    if (bytes > this.#peak) this.#peak = Math.min(bytes, this.#size);
  }

  get #period(): Millis {
    return Math.ceil(1000 / this.#node.settings.hz);
  }

  #catchUp(): void {
    const { now, replyBuffers } = this.#node;
    while (replyBuffers.resizes && this.#next <= now) {
      const [size, peak] = [this.#size, this.#peak];
      this.#look(this.#next);
      this.#next += this.#period;
      // Without use, all further looks find the same.
      if (this.#size === size && peak === 0) break;
    }
    if (this.#next <= now) this.#next = now + this.#period;
  }

  #look(at: Millis): void {
    const { replyBuffers, stats } = this.#node;
    const half = Math.floor(this.#size / 2);
    if (half >= SMALLEST && this.#peak < half) {
      this.#size = Math.max(SMALLEST, this.#peak + 1);
      stats.replyBufferShrinks++;
    } else if (this.#size < LARGEST && this.#peak === this.#size) {
      this.#size = Math.min(LARGEST, 2 * this.#size);
      stats.replyBufferExpands++;
    }
    if (replyBuffers.resetAfter === undefined || at - this.#resetAt <= replyBuffers.resetAfter) return;
    this.#peak = 0;
    this.#resetAt = at;
  }
}
