/** How a node asks another for slots, when CLUSTER MIGRATION IMPORT of Redis was sent to the node that shall have them. */
import { type Bytes, fromBuffer, type Millis } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { Connection, PendingConnection, Receiver } from '../../server/host/host.ts';
import { dial } from '../../server/replication/dial.ts';
import { replicationPort } from '../ports.ts';
import type { ExportOwner } from './export.ts';
import type { Move } from './move.ts';

/**
 * One request for slots. Redis has a protocol of its own for this, with two connections; here the source then connects to this
 * node, as Valkey does.
 */
export class SlotRequest implements Receiver {
  readonly #owner: ExportOwner;
  readonly #move: Move;
  readonly #askedAt: Millis;
  #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #input: Bytes = '';
  #over = false;

  constructor(owner: ExportOwner, move: Move) {
    this.#owner = owner;
    this.#move = move;
    const { cluster } = owner;
    const { server } = cluster;
    this.#askedAt = cluster.now;
    const source = cluster.members.get(move.ends?.source ?? '');
    if (source === undefined) {
      this.#fail('the source node is not known');
      return;
    }
    const to = { host: source.ip, port: replicationPort(server, source) };
    this.#attempt = dial(cluster.host, server.settings['tls-replication'], to, this, (connection) => {
      if (this.#over) return connection.abort();
      this.#connection = connection;
      const { masterauth: password, masteruser: user } = server.settings;
      if (password === '') this.#ask();
      else connection.send(encodeRequest(['AUTH', ...(user === '' ? [] : [user]), password]));
    });
  }

  /** False if the source has answered, or has not answered for too long. */
  get isUnderway(): boolean {
    const { now, server } = this.#owner.cluster;
    return !this.#over && now - this.#askedAt <= 1000 * server.settings['repl-timeout'];
  }

  /** Ends the connection. The source may go on with what it was asked for. */
  end(): void {
    this.#over = true;
    this.#attempt?.cancel();
    this.#connection?.close();
  }

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#input += fromBuffer(chunk);
    const line = /^([+-][^\r]*)\r\n$/.exec(this.#input)?.[1];
    if (line === undefined) return;
    this.#input = '';
    if (line.startsWith('-')) this.#fail(line.slice(1));
    // AUTH was answered before.
    else if (line === '+OK') this.#ask();
    else this.end();
  }

  closed(): void {
    if (this.#over) return;
    this.#owner.enter(() =>
      this.#fail(this.#connection === undefined ? 'Connection refused' : 'Connection lost'),
    );
  }

  #ask(): void {
    const { name, ranges, ends } = this.#move;
    const slots = ranges.flat().map(String);
    const words = ['SYNC', name, 'FOR', ends?.target ?? '', ...slots];
    this.#connection?.send(encodeRequest(['CLUSTER', 'SYNCSLOTS', ...words]));
  }

  #fail(why: Bytes): void {
    this.#move.become('waiting-to-ask', this.#owner.cluster.now);
    this.#move.message = `Main channel - Failed to sync with source node: ${why} (state: connecting, rdb_channel_state: none)`;
    this.end();
  }
}
