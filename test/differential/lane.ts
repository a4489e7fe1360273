/** One connection's incoming bytes, cut into replies. */
import type { Bytes } from '../../protocol/bytes.ts';
import { replyEnd } from '../support/reply-text.ts';

export class Lane {
  /** Complete replies and pushes not taken yet, as their bytes. */
  readonly items: Bytes[] = [];
  /** How many have been complete so far. */
  count = 0;
  closed = false;
  /** Called when something has come. */
  onChange: () => void = () => {};
  #unread = '';
  /** Bytes go here first while what comes is no reply (a snapshot). */
  #swallow: ((unread: Bytes) => number) | undefined;

  feed(bytes: Bytes): void {
    this.#unread += bytes;
    if (this.#swallow !== undefined) {
      const end = this.#swallow(this.#unread);
      if (end < 0) return;
      this.#unread = this.#unread.slice(end);
      this.#swallow = undefined;
    }
    let at = 0;
    while (at < this.#unread.length) {
      const end = replyEnd(this.#unread, at);
      if (end < 0) break;
      this.items.push(this.#unread.slice(at, end));
      this.count++;
      at = end;
    }
    this.#unread = this.#unread.slice(at);
    this.onChange();
  }

  close(): void {
    this.closed = true;
    this.onChange();
  }

  /** Skips +FULLRESYNC and the snapshot behind it. */
  skipSnapshot(): void {
    this.#swallow = (unread) => {
      const found = /\$(\d+)\r\n/.exec(unread.slice(0, 300));
      if (found === null) return -1;
      const end = found.index + found[0].length + Number(found[1]);
      return unread.length >= end ? end : -1;
    };
  }

  /** True until the snapshot has come. */
  get skipping(): boolean {
    return this.#swallow !== undefined;
  }

  /** Takes everything that has come. */
  take(): Bytes[] {
    return this.items.splice(0);
  }
}
