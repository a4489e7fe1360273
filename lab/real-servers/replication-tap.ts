/** Watches the connection of a replica to its primary, and tells the mirrors of both what passes. */
import { asciiLower, fromBuffer, parseSafeInteger } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import type { ConnectionTap, NetworkConnection } from '../real-clock/network.ts';
import type { Mirror } from './mirror.ts';
import type { RealServerNode } from './node.ts';
import { SyncReader } from './sync-reader.ts';

/** Reads both directions of one connection. */
export class ReplicationTap implements ConnectionTap {
  readonly #requests = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
  readonly #sent: SyncReader;
  readonly #received: SyncReader;
  /** The offset up to which the replica had the stream. */
  #had = 0;

  constructor(replica: Mirror, primary: Mirror) {
    this.#sent = new SyncReader(() => this.#had, primary.receiver('as primary'));
    this.#received = new SyncReader(() => this.#had, replica.receiver('as replica'));
  }

  /** True once the primary sends its stream on this connection. */
  get streams(): boolean {
    return this.#sent.streams;
  }

  asked(bytes: Uint8Array): void {
    this.#requests.write(bytes);
    for (let argv = this.#requests.next(); argv !== undefined; argv = this.#requests.next()) {
      if (asciiLower(argv[0] ?? '') === 'psync') this.#had = (parseSafeInteger(argv[2] ?? '') ?? 0) - 1;
    }
  }

  answered(bytes: Uint8Array): void {
    this.#sent.take(fromBuffer(bytes));
  }

  took(bytes: Uint8Array): void {
    this.#received.take(fromBuffer(bytes));
  }
}

/** What watches a connection to a node: that of a client, or of one of its replicas. */
export function tapBetween(
  nodes: readonly RealServerNode[],
  connection: NetworkConnection,
): ConnectionTap | undefined {
  const to = nodes.find(({ name }) => name === connection.to);
  const from = nodes.find(({ name }) => name === connection.from);
  if (to === undefined) return undefined;
  if (from === undefined) return to.requests.tap(connection);
  const tap = new ReplicationTap(from.mirror, to.mirror);
  to.feed(connection, tap);
  return tap;
}
