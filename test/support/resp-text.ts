/** Reads RESP replies for tests, and prints them as one readable line that loses nothing. */

/** A reply as its protocol types it. */
export type RespValue =
  | { readonly type: 'bulk' | 'line'; readonly text: string }
  | { readonly type: 'null' | 'null-array' | 'null-bulk' }
  | { readonly type: 'items'; readonly mark: string; readonly items: RespValue[] };

/** Collects bytes and hands out complete replies. */
export class RespReader {
  #text = '';
  #at = 0;

  write(bytes: string): void {
    this.#text = this.#text.slice(this.#at) + bytes;
    this.#at = 0;
  }

  /** Bytes that no reply has been made of. */
  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** The next complete reply; undefined when there is none yet. */
  next(): RespValue | undefined {
    const start = this.#at;
    const value = this.#value();
    if (value === undefined) this.#at = start;
    return value;
  }

  #line(): string | undefined {
    const end = this.#text.indexOf('\r\n', this.#at);
    if (end < 0) return undefined;
    const line = this.#text.slice(this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #value(): RespValue | undefined {
    const line = this.#line();
    if (line === undefined) return undefined;
    const mark = line.charAt(0);
    const length = parseInt(line.slice(1), 10);
    if (mark === '_') return { type: 'null' };
    if (mark === '$' || mark === '=') return this.#bulk(mark, length);
    if (!'*%~>'.includes(mark)) return { type: 'line', text: line };
    if (length < 0) return { type: 'null-array' };
    const items: RespValue[] = [];
    for (let left = mark === '%' ? 2 * length : length; left > 0; left--) {
      const item = this.#value();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return { type: 'items', mark, items };
  }

  #bulk(mark: string, length: number): RespValue | undefined {
    if (length < 0) return { type: 'null-bulk' };
    if (this.#text.length < this.#at + length + 2) return undefined;
    const text = this.#text.slice(this.#at, this.#at + length);
    this.#at += length + 2;
    return mark === '=' ? { type: 'line', text: `=${text}` } : { type: 'bulk', text };
  }
}

/** One line of ASCII: "bulk", :1, +OK, -ERR, nil (RESP3), nil$ and nil* (RESP2), [array], %[map], ~[set], >[push]. */
export function printResp(value: RespValue, sorted = false): string {
  switch (value.type) {
    case 'bulk':
      return `"${escapeText(value.text).replace(/"/g, '\\"')}"`;
    case 'line':
      return escapeText(value.text);
    case 'null':
      return 'nil';
    case 'null-bulk':
      return 'nil$';
    case 'null-array':
      return 'nil*';
    case 'items': {
      const items = value.items.map((item) => printResp(item, sorted));
      if (sorted) items.sort();
      return `${value.mark === '*' ? '' : value.mark}[${items.join(' ')}]`;
    }
  }
}

function escapeText(text: string): string {
  return text.replace(/[^ -~]|\\/g, (char) =>
    char === '\\' ? '\\\\' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
