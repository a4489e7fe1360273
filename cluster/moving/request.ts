/** How a node asks another for slots, when CLUSTER MIGRATION IMPORT of Redis was sent to the node that shall have them. */
import { type Bytes, fromBuffer } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { Connection, PendingConnection, Receiver } from '../../server/host/host.ts';
import { dial } from '../../server/replication/dial.ts';
import { replicationPort } from '../ports.ts';
import type { ExportOwner } from './export.ts';
import type { Move } from './move.ts';

/**
 * A request for slots. It is sent again until the source has heard it. Redis has a protocol of its own for this, with two
 * connections; here the source then connects to this node, as Valkey does.
 */
export class SlotRequest implements Receiver {
  readonly #owner: ExportOwner;
  readonly #move: Move;
  #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #input: Bytes = '';
  #over = false;

  constructor(owner: ExportOwner, move: Move) {
    this.#owner = owner;
    this.#move = move;
    this.#send();
  }

  /** Sends the request again, if the source could not be reached. */
  retry(): void {
    if (!this.#over) return;
    this.#move.retries++;
    this.#send();
  }

  receive(chunk: Uint8Array): void {
    this.#input += fromBuffer(chunk);
    const line = /^([+-][^\r]*)\r\n$/.exec(this.#input)?.[1];
    if (line === undefined) return;
    this.#input = '';
    if (line.startsWith('-')) this.#failed(line.slice(1));
    // AUTH was answered before.
    else if (line === '+OK') this.#ask();
    else this.#connection?.close();
  }

  closed(): void {
    if (this.#over || this.#move.state !== 'asking-source') return;
    this.#owner.enter(() => this.#failed('Connection refused'));
  }

  #send(): void {
    const { cluster } = this.#owner;
    const { server } = cluster;
    const source = cluster.members.get(this.#move.ends?.source ?? '');
    this.#over = false;
    if (source === undefined) {
      this.#failed('the source node is not known');
      return;
    }
    const to = { host: source.ip, port: replicationPort(server, source) };
    this.#attempt = dial(cluster.host, server.settings['tls-replication'], to, this, (connection) => {
      if (this.#move.isFinished) return connection.abort();
      this.#connection = connection;
      const { masterauth: password, masteruser: user } = server.settings;
      if (password === '') this.#ask();
      else connection.send(encodeRequest(['AUTH', ...(user === '' ? [] : [user]), password]));
    });
  }

  #ask(): void {
    const { name, ranges, ends } = this.#move;
    const slots = ranges.flat().map(String);
    const words = ['SYNC', name, 'FOR', ends?.target ?? '', ...slots];
    this.#connection?.send(encodeRequest(['CLUSTER', 'SYNCSLOTS', ...words]));
  }

  #failed(why: Bytes): void {
    this.#over = true;
    this.#attempt?.cancel();
    this.#connection?.close();
    this.#move.message = `Main channel - Failed to sync with source node: ${why} (state: connecting, rdb_channel_state: none)`;
  }
}
