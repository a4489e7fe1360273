/** Cuts the bytes of one connection into replies as they arrive. */
import type { Bytes } from '../../protocol/bytes.ts';
import { replyEnd } from './reply-text.ts';

/** Collects bytes and hands out complete replies and pushes. */
export class ReplyReader {
  #bytes: Bytes = '';
  #at = 0;
  /** Where the leading snapshot ends; -1 while it is incomplete. */
  #snapshotEnd: ((unread: Bytes) => number) | undefined;

  write(bytes: Bytes): void {
    this.#bytes = this.rest + bytes;
    this.#at = 0;
    const end = this.#snapshotEnd?.(this.#bytes) ?? -1;
    if (end < 0) return;
    this.#at = end;
    this.#snapshotEnd = undefined;
  }

  /** Bytes that belong to no reply yet. */
  get rest(): Bytes {
    return this.#bytes.slice(this.#at);
  }

  /** The bytes of the next complete reply; undefined while there is none. Throws when the bytes are no reply. */
  next(): Bytes | undefined {
    if (this.skipping || this.#at === this.#bytes.length) return undefined;
    const end = replyEnd(this.#bytes, this.#at);
    if (end < 0) return undefined;
    const reply = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return reply;
  }

  /** All complete replies that have not been taken. */
  take(): Bytes[] {
    const replies: Bytes[] = [];
    for (let reply = this.next(); reply !== undefined; reply = this.next()) replies.push(reply);
    return replies;
  }

  /** Skips +FULLRESYNC and the snapshot behind it, whose length is announced. */
  skipSnapshot(): void {
    this.#snapshotEnd = (unread) => {
      const found = /\$(\d+)\r\n/.exec(unread.slice(0, 300));
      if (found === null) return -1;
      const end = found.index + found[0].length + Number(found[1]);
      return unread.length >= end ? end : -1;
    };
  }

  /** True until the snapshot has arrived. */
  get skipping(): boolean {
    return this.#snapshotEnd !== undefined;
  }
}
