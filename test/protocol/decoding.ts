/** Decodes the requests of a byte stream that arrives in pieces. */
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import type { DecodeLimits } from '../../protocol/limits.ts';

/** The limits of a client that has authenticated. */
export const open: DecodeLimits = { maxBulk: 512 * 1024 ** 2, authenticated: true };

interface Decoded {
  readonly requests: Bytes[][];
  readonly failure: Bytes | undefined;
  readonly buffered: number;
}

/** Decodes the pieces. Each is passed in a buffer that is overwritten as soon as the decoder has drained it. */
export function decode(pieces: readonly Bytes[], limits = open): Decoded {
  const decoder = new RequestDecoder(limits);
  const requests: Bytes[][] = [];
  for (const piece of pieces) {
    const chunk = toBuffer(piece);
    decoder.write(chunk);
    for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) requests.push(argv);
    chunk.fill(0x2a);
  }
  return { requests, failure: decoder.failure, buffered: decoder.buffered };
}
