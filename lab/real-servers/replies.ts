/** Finds where each reply to a client ends, in RESP2 and RESP3, without decoding it. */
import type { Bytes } from '../../protocol/bytes.ts';

/** A reply in a stream of replies. */
export interface ReplyEnd {
  /** How many bytes of the connection end with it. */
  readonly end: number;
  /** Its first line, such as '+OK' or '$-1'. */
  readonly head: Bytes;
}

/** Collects bytes and returns the replies that are complete. */
export class ReplyScanner {
  #bytes: Bytes = '';
  /** The position of the first collected byte. */
  #begin = 0;

  /** Adds bytes; returns the replies that they complete. Pushes, which answer no request, are left out. */
  take(bytes: Bytes): ReplyEnd[] {
    this.#bytes += bytes;
    const found: ReplyEnd[] = [];
    let at = 0;
    for (let end = this.#skip(at); end !== undefined; end = this.#skip(at)) {
      const head = this.#bytes.slice(at, this.#bytes.indexOf('\r\n', at));
      if (!head.startsWith('>')) found.push({ end: this.#begin + end, head });
      at = end;
    }
    this.#bytes = this.#bytes.slice(at);
    this.#begin += at;
    return found;
  }

  /** Returns where the reply that begins at this place ends; undefined if it is incomplete. */
  #skip(at: number): number | undefined {
    const line = this.#bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const kind = this.#bytes[at] as string;
    const next = line + 2;
    if (!'$=!*~>%|'.includes(kind)) return next;
    const count = Number(this.#bytes.slice(at + 1, line));
    if ('$=!'.includes(kind)) {
      const end = count < 0 ? next : next + count + 2;
      return end <= this.#bytes.length ? end : undefined;
    }
    const items = kind === '%' ? 2 * count : kind === '|' ? 2 * count + 1 : count;
    let end: number | undefined = next;
    for (let i = 0; i < items && end !== undefined; i++) end = this.#skip(end);
    return end;
  }
}
