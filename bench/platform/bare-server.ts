/**
 * Servers that do less than any Redis must, on lostlock's own transport: what they cost, every server on Node costs.
 * Arguments: the port, and `count LENGTH`, `hand-over` or the name of a store.
 */
import type { Connection, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { type BareAnswer, counting, handingOver, storing } from './bare-answers.ts';
import { entries, expiring, locking, type Store, sorted, values } from './bare-stores.ts';

/** A connection. redis-benchmark's first one asks for the configuration, which there is none of. */
class Client implements Receiver {
  readonly #connection: Connection;
  readonly #answer: BareAnswer;
  #isFirst = true;

  constructor(connection: Connection, answer: BareAnswer) {
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

const STORES: Record<string, () => Store> = { values, entries, sorted, expiring, locking };

const [port, kind = '', length] = process.argv.slice(2);
const store = STORES[kind]?.();

function answerFor(connection: Connection): BareAnswer {
  if (kind === 'hand-over') return handingOver(connection);
  return store ? storing(store) : counting(Number(length));
}

const listener = new Listener({ accept: (connection) => new Client(connection, answerFor(connection)) });
await listener.listen({ host: '127.0.0.1', port: Number(port) });
process.on('SIGTERM', () => process.exit());
