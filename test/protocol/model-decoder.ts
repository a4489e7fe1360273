/** A second request decoder, slow and simple: it applies Redis' rules to one whole string, to check the real decoder. */
import { type Bytes, parseInteger } from '../../protocol/bytes.ts';
import { splitInline } from '../../protocol/inline.ts';

export interface Decoded {
  readonly requests: Bytes[][];
  readonly failure: Bytes | undefined;
}

/** The index at which C's strchr finds the character. A NUL ends its search. */
function strchr(text: Bytes, char: string, from: number): number {
  const at = text.indexOf(char, from);
  const nul = text.indexOf('\0', from);
  return nul >= 0 && nul < at ? -1 : at;
}

class Broken extends Error {}

function tooLong(rest: number, what: string): undefined {
  if (rest > 65536) throw new Broken(`too big ${what}`);
}

/** Reads one request from `from` on, and returns it with the start of the next. undefined: the request is incomplete. */
function decodeOne(text: Bytes, from: number, maxBulk: bigint): { argv: Bytes[]; end: number } | undefined {
  const header = (at: number, what: string): { value: Bytes; end: number } | undefined => {
    const cr = strchr(text, '\r', at);
    if (cr < 0) return tooLong(text.length - at, `${what} count string`);
    return cr + 1 < text.length ? { value: text.slice(at, cr), end: cr + 2 } : undefined;
  };
  if (text[from] !== '*') {
    const lf = strchr(text, '\n', from);
    if (lf < 0) return tooLong(text.length - from, 'inline request');
    const argv = splitInline(text.slice(from, lf).replace(/\r$/, ''));
    if (argv === undefined) throw new Broken('unbalanced quotes in request');
    return { argv, end: lf + 1 };
  }
  const head = header(from, 'mbulk');
  if (head === undefined) return undefined;
  const count = parseInteger(head.value.slice(1));
  if (count === undefined || count > 2147483647) throw new Broken('invalid multibulk length');
  const argv: Bytes[] = [];
  let at = head.end;
  while (argv.length < count) {
    const line = header(at, 'bulk');
    if (line === undefined) return undefined;
    const kind = text[at] as string;
    if (kind !== '$') throw new Broken(`expected '$', got '${kind.replace(/[\r\n]/, ' ')}'`);
    const length = BigInt(parseInteger(line.value.slice(1)) ?? -1);
    if (length < 0n || length > maxBulk) throw new Broken('invalid bulk length');
    const end = BigInt(line.end) + length;
    if (end + 2n > BigInt(text.length)) return undefined;
    at = line.end + narrowed(length);
    argv.push(text.slice(line.end, at));
    at += 2;
  }
  return { argv, end: at };
}

function narrowed(value: bigint): number {
  return Number.parseInt(value.toString(), 10);
}

/** All requests in the text, and the error that ends them. */
export function modelDecode(text: Bytes, maxBulk: number): Decoded {
  const requests: Bytes[][] = [];
  try {
    for (let at = 0; at < text.length; ) {
      const one = decodeOne(text, at, BigInt(maxBulk));
      if (one === undefined) break;
      if (one.argv.length > 0) requests.push(one.argv);
      at = one.end;
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { requests, failure: `ERR Protocol error: ${error.message}` };
  }
  return { requests, failure: undefined };
}
