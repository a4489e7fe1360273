/** One connection's incoming bytes, cut into replies. */
import type { Bytes } from '../../protocol/bytes.ts';
import { ReplyReader } from '../support/reply-reader.ts';

export class Lane {
  /** Complete replies and pushes not taken yet, as their bytes. */
  readonly items: Bytes[] = [];
  /** How many have been complete so far. */
  count = 0;
  closed = false;
  /** Called when something has come. */
  onChange: () => void = () => {};
  readonly #reader = new ReplyReader();

  feed(bytes: Bytes): void {
    this.#reader.write(bytes);
    if (this.skipping) return;
    const replies = this.#reader.take();
    this.items.push(...replies);
    this.count += replies.length;
    this.onChange();
  }

  close(): void {
    this.closed = true;
    this.onChange();
  }

  /** Skips +FULLRESYNC and the snapshot behind it. */
  skipSnapshot(): void {
    this.#reader.skipSnapshot();
  }

  /** True until the snapshot has come. */
  get skipping(): boolean {
    return this.#reader.skipping;
  }

  /** Takes everything that has come. */
  take(): Bytes[] {
    return this.items.splice(0);
  }
}
