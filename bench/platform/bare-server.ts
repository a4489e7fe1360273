/**
 * Servers that do less than any Redis must, on lostlock's own transport: what they cost, every server on Node costs.
 * Arguments: the port, and `count LENGTH`, `hand-over` or the name of a store.
 */
import type { Connection, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { entries, type Store, sorted, values } from './bare-stores.ts';

/** What a connection answers to a chunk of requests. */
type Answer = (chunk: Buffer) => string;

/** Answers +OK whenever as many bytes have arrived as a request has, without looking at them. */
function counting(length: number): Answer {
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
function handingOver(connection: Connection): Answer {
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
function storing(store: Store): Answer {
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

/** A connection. redis-benchmark's first one asks for the configuration, which there is none of. */
class Client implements Receiver {
  readonly #connection: Connection;
  readonly #answer: Answer;
  #isFirst = true;

  constructor(connection: Connection, answer: Answer) {
    this.#connection = connection;
    this.#answer = answer;
  }

  receive(bytes: Uint8Array): void {
    const chunk = bytes as Buffer;
    const replies = (this.#isFirst ? greeting(chunk) : undefined) ?? this.#answer(chunk);
    this.#isFirst = false;
    if (replies !== '') this.#connection.send(replies);
  }

  closed(): void {}
}

function greeting(chunk: Buffer): string | undefined {
  const start = chunk.latin1Slice(0, Math.min(100, chunk.length));
  if (start.startsWith('PING')) return '+PONG\r\n';
  return start.includes('CONFIG') ? '-ERR none\r\n'.repeat(start.split('CONFIG').length - 1) : undefined;
}

const STORES: Record<string, () => Store> = { values, entries, sorted };

const [port, kind = '', length] = process.argv.slice(2);
const store = STORES[kind]?.();

function answerFor(connection: Connection): Answer {
  if (kind === 'hand-over') return handingOver(connection);
  return store ? storing(store) : counting(Number(length));
}

const listener = new Listener({ accept: (connection) => new Client(connection, answerFor(connection)) });
await listener.listen({ host: '127.0.0.1', port: Number(port) });
process.on('SIGTERM', () => process.exit());
