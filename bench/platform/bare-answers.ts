/** What the bare servers do with the bytes of a connection. */
import type { Connection } from '../../server/host/host.ts';
import type { Store } from './bare-stores.ts';

/** What a connection answers to a chunk of requests. */
export type BareAnswer = (chunk: Buffer) => string;

/** Answers +OK whenever as many bytes have arrived as a request has, without looking at them. */
export function counting(length: number): BareAnswer {
  let received = 0;
  return (chunk) => {
    received += chunk.length;
    const requests = Math.floor(received / length);
    received -= requests * length;
    return '+OK\r\n'.repeat(requests);
  };
}

/** Connections that wait in BLPOP, and elements that wait for them. */
const waiting: Connection[] = [];
const elements: string[] = [];

/** Hands each element of RPUSH to the connection that has waited longest in BLPOP. Requests are whole lines. */
export function handingOver(connection: Connection): BareAnswer {
  return (chunk) => {
    let replies = '';
    for (const line of chunk.latin1Slice(0, chunk.length - 2).split('\r\n')) {
      const [command, key = '', element = ''] = line.split(' ');
      if (command === 'BLPOP') waiting.push(connection);
      else {
        elements.push(`*2\r\n$${key.length}\r\n${key}\r\n$${element.length}\r\n${element}\r\n`);
        replies += ':1\r\n';
      }
    }
    while (waiting.length > 0 && elements.length > 0) waiting.shift()?.send(elements.shift() as string);
    return replies;
  };
}

const CR = 13;
const ZERO = 48;
const NO_CHUNK = Buffer.alloc(0);

/** Parses requests into strings, and answers them from a store. */
export function storing(store: Store): BareAnswer {
  let rest: Buffer = NO_CHUNK;
  let at = 0;

  /** The number behind a `*` or `$`; -1 when its line has not arrived as a whole. */
  function number(chunk: Buffer): number {
    let value = 0;
    for (let i = at + 1; i < chunk.length - 1; i++) {
      const byte = chunk[i] as number;
      if (byte === CR) {
        at = i + 2;
        return value;
      }
      value = value * 10 + byte - ZERO;
    }
    return -1;
  }

  /** The words of the next request; undefined when it has not arrived as a whole. */
  function request(chunk: Buffer): string[] | undefined {
    const count = number(chunk);
    const words: string[] = [];
    while (words.length < count) {
      const length = number(chunk);
      if (length < 0 || at + length + 2 > chunk.length) return undefined;
      words.push(chunk.latin1Slice(at, at + length));
      at += length + 2;
    }
    return count < 0 ? undefined : words;
  }

  return (part) => {
    const chunk = rest.length === 0 ? part : Buffer.concat([rest, part]);
    let replies = '';
    let taken = 0;
    at = 0;
    while (at < chunk.length) {
      const words = request(chunk);
      if (words === undefined) break;
      taken = at;
      replies += store(words);
    }
    rest = taken === chunk.length ? NO_CHUNK : Buffer.from(chunk.subarray(taken));
    return replies;
  };
}
