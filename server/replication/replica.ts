/** The replica's side of replication: dial the primary, handshake, full or partial resync, apply the stream, acknowledge. */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import { type Bytes, fromBuffer, type Millis, parseSafeInteger, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { ReplyError } from '../../protocol/reply.ts';
import { Client, type ClientNode, PRIMARY_LINK } from '../clients/client.ts';
import { loadSnapshot, type SnapshotNode } from '../data/snapshot.ts';
import { Beat } from '../host/beat.ts';
import type { Connection, Host, Receiver } from '../host/host.ts';
import type { Durability, Units } from '../ports.ts';
import { Transfer } from './transfer.ts';

/** The parameters that hold what to log in with at the primary. */
const PASSWORD = 'masterauth';
const USER = 'masteruser';

/** The longest wait before a dataset that could not be read is asked for again, in milliseconds. */
const LONGEST_WAIT = 60_000;

type LinkState = 'connect' | 'connecting' | 'handshake' | 'sync' | 'connected';

/** One dial and the connection that came of it. What an abandoned one still says is nobody's business. */
class PrimaryDial implements Receiver {
  connection: Connection | undefined;
  readonly #side: ReplicaSide;

  constructor(side: ReplicaSide) {
    this.#side = side;
  }

  receive(chunk: Uint8Array): void {
    this.#side.received(this, chunk);
  }

  closed(): void {
    this.#side.closed(this);
  }
}

/**
 * What a replica of Redis says about itself: it takes a dataset of unknown length, and goes on with the stream after a promotion.
 * Newer Redis adds `rdb-channel-repl` and Valkey `dual-channel`, a dataset over a connection of its own, which is not
 * offered here. Valkey tells its version too.
 */
export const INTRODUCTION: readonly (readonly Bytes[])[] = [['REPLCONF', 'capa', 'eof', 'capa', 'psync2']];

/** The node, as the link to its primary sees it. */
export interface ReplicaNode extends ClientNode, SnapshotNode, Units {
  /** What it says about itself before it asks for the stream. */
  readonly introduction: readonly (readonly Bytes[])[];
  readonly host: Host;
  readonly replication: SnapshotNode['replication'] & {
    readonly failover: { readonly state: string; answered(accepted: boolean): void };
    adopt(id: Bytes, offset: number): void;
    rename(id: Bytes): void;
    feedBytes(bytes: Bytes): void;
    online(): readonly { readonly client: Client }[];
  };
  readonly expiry: { follow(): void };
  readonly slowScript: { readonly active: boolean };
  db(index: number): Keyspace;
  readonly connections: ClientNode['connections'] & { nextId(): number };
  readonly durability: Durability | undefined;
}

export class ReplicaSide {
  readonly host: Bytes;
  readonly port: number;
  state: LinkState = 'connect';
  /** When bytes last arrived. */
  heardAt: Millis;
  downSince: Millis;
  /** Why the link is down, where that is known; undefined once it is up. */
  trouble: string | undefined;
  // A dataset that could not be read is not asked for again before this instant; the wait doubles each time.
  #dialAt: Millis = 0;
  #wait: Millis = 1000;
  readonly #server: ReplicaNode;
  #link: PrimaryDial | undefined;
  #client: Client | undefined;
  #decoder: RequestDecoder | undefined;
  // What has arrived and is not applied yet; during the handshake: not interpreted yet.
  #input = '';
  // How much of the input the decoder has been given.
  #decoded = 0;
  // Replies of the handshake still to come, then what PSYNC says.
  #awaiting: ((line: Bytes) => void)[] = [];
  #transfer: Transfer | undefined;
  readonly #beat: Beat;

  /** @param before the client that applied the stream so far, when the same stream may go on: it knows its database */
  constructor(server: ReplicaNode, host: Bytes, port: number, before?: Client) {
    this.#server = server;
    this.#beat = new Beat(server, () => this.#review());
    this.host = host;
    this.port = port;
    this.heardAt = server.now;
    this.downSince = server.now;
    this.#client = before;
  }

  /** Begins to follow: dials at once, then keeps the connection up. */
  start(): void {
    this.#beat.start();
    this.#dial();
  }

  /** Ends following; the data stays. */
  stop(): void {
    this.#beat.stop();
    this.#drop();
  }

  /** The client that applies the primary's commands, once there was a connection. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** The connection to the primary, while there is one. */
  get connection(): Connection | undefined {
    return this.#link?.connection;
  }

  /** Breaks the link, as CLIENT KILL does; it is dialled again. */
  disconnect(): void {
    const link = this.#link;
    const connection = link?.connection;
    if (link !== undefined) this.closed(link);
    connection?.abort();
  }

  get linkUp(): boolean {
    return this.state === 'connected';
  }

  /** How far the full resync under way is; undefined when there is none. */
  get transfer(): Transfer | undefined {
    return this.#transfer;
  }

  /** A lost primary is dialled again, one that fell silent let go, and the offset acknowledged. */
  #review(): void {
    const server = this.#server;
    const now = server.host.clock.now();
    if (this.state === 'connect') {
      if (now >= this.#dialAt) this.#dial();
    } else if (now - this.heardAt > server.settings['repl-timeout'] * 1000) this.#drop();
    else if (this.state === 'connected') this.acknowledge();
    server.settle();
  }

  #dial(): void {
    const { clock } = this.#server.host;
    const link = new PrimaryDial(this);
    this.#link = link;
    this.state = 'connecting';
    this.heardAt = clock.now();
    this.#server.host.connect(this.host, this.port, link, (connection) => {
      if (this.#link !== link) return connection.abort();
      link.connection = connection;
      this.heardAt = clock.now();
      this.#shakeHands();
    });
  }

  #send(argv: readonly Bytes[]): void {
    this.#link?.connection?.send(encodeRequest(argv));
  }

  // Redis, too, sends all it has to say about itself behind the first answer.
  #shakeHands(): void {
    const { settings, introduction } = this.#server;
    const password = settings[PASSWORD];
    const user = settings[USER];
    const address = settings['replica-announce-ip'];
    this.state = 'handshake';
    this.#send(['PING']);
    this.#awaiting = [
      (line) => {
        if (!/^(\+|-NOAUTH|-NOPERM|-ERR operation not permitted)/.test(line))
          return this.#refused('PING', line);
        if (password !== '') this.#send(user === '' ? ['AUTH', password] : ['AUTH', user, password]);
        this.#send([
          'REPLCONF',
          'listening-port',
          String(settings['replica-announce-port'] || settings.port),
        ]);
        if (address !== '') this.#send(['REPLCONF', 'ip-address', address]);
        for (const words of introduction) this.#send(words);
      },
    ];
    if (password !== '') {
      this.#awaiting.push((line) => {
        if (line.startsWith('-')) this.#refused('AUTH', line);
      });
    }
    if (address !== '') this.#awaiting.push(() => {});
    // A primary may refuse what it does not know of an introduction: nothing depends on it.
    for (const _ of introduction) this.#awaiting.push(() => {});
    this.#awaiting.push(
      () => this.#askForStream(),
      (line) => this.#synchronized(line),
    );
  }

  #askForStream(): void {
    const { replication } = this.#server;
    const words = ['PSYNC', replication.id, String(replication.offset + 1)];
    // The node that hands its role over tells its heir so.
    if (replication.failover.state === 'failover-in-progress') words.push('FAILOVER');
    this.#send(words);
  }

  #refused(what: string, line: Bytes): void {
    this.#complain(`Primary ${this.host}:${this.port} refused ${what}: ${line}`);
    this.#drop();
  }

  /** Says why the link is down: in the log, and in INFO until it is up. */
  #complain(why: string): void {
    this.trouble = why;
    this.#server.log('warning', why);
  }

  #synchronized(line: Bytes): void {
    const [kind, id = '', offset = ''] = line.split(' ');
    const { replication } = this.#server;
    if (kind === '+FULLRESYNC') {
      this.state = 'sync';
      this.#transfer = new Transfer(id, parseSafeInteger(offset) ?? 0);
      replication.failover.answered(true);
    } else if (kind === '+CONTINUE') {
      if (id !== '' && id !== replication.id) replication.rename(id);
      this.#connected();
      replication.failover.answered(true);
    } else {
      this.#refused('PSYNC', line);
      replication.failover.answered(false);
    }
  }

  received(link: PrimaryDial, chunk: Uint8Array): void {
    this.#server.stats.linkBytesIn += chunk.length;
    if (this.#link !== link) return;
    this.heardAt = this.#server.host.clock.now();
    if (this.state === 'sync') {
      this.#readTransfer(fromBuffer(chunk));
    } else {
      this.#input += fromBuffer(chunk);
      if (this.state === 'handshake') this.#readLines();
    }
    this.resume();
    this.#server.settle();
  }

  /** Applies what has come; a script that keeps the node busy keeps the stream waiting. */
  resume(): void {
    if (this.state === 'connected' && !this.#server.slowScript.active) this.#take();
  }

  closed(link: PrimaryDial): void {
    if (this.#link !== link) return;
    const established = this.state === 'connected';
    this.#lost();
    // As from 7.0 an established link is dialled again at once; a dial that failed waits for the next beat.
    if (established && this.#beat.running) this.#dial();
    this.#server.settle();
  }

  #readLines(): void {
    while (this.state === 'handshake') {
      const end = this.#input.indexOf('\n');
      if (end < 0) return;
      const line = this.#input.slice(0, end).replace(/\r$/, '');
      this.#input = this.#input.slice(end + 1);
      // A primary that prepares a dataset keeps the line alive with bare newlines.
      if (line !== '') this.#awaiting.shift()?.(line);
    }
    if (this.state !== 'sync') return;
    const rest = this.#input;
    this.#input = '';
    this.#readTransfer(rest);
  }

  #readTransfer(bytes: Bytes): void {
    const transfer = this.#transfer as Transfer;
    const rest = transfer.take(bytes);
    if (transfer.failure !== undefined) this.#refused('us the dataset', transfer.failure);
    else if (rest !== undefined) this.#load(transfer, rest);
  }

  /** The dataset replaces ours; behind it the stream may have begun already. */
  #load(transfer: Transfer, rest: Bytes): void {
    const server = this.#server;
    let db = 0;
    for (const { client } of server.replication.online()) client.abort();
    try {
      db = server.unit(() => loadSnapshot(server, transfer.rdb()));
    } catch (error) {
      // The data is as it was, so that the old offset still holds.
      const why = error instanceof Error ? error.message : String(error);
      this.#complain(
        `Cannot load the dataset of primary ${this.host}:${this.port}: ${why}; trying again in ${this.#wait / 1000} s`,
      );
      // Each attempt costs the primary a whole dataset. (redis-server 7.0 tries again at once, for ever.)
      this.#dialAt = server.host.clock.now() + this.#wait;
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
      this.#drop();
      return;
    }
    this.#transfer = undefined;
    this.#client = undefined;
    server.replication.adopt(transfer.id, transfer.offset);
    this.#connected().db = server.db(db < server.databases.length ? db : 0);
    this.acknowledge();
    this.#input = rest;
  }

  #connected(): Client {
    this.state = 'connected';
    this.trouble = undefined;
    this.#wait = 1000;
    // Without a connection of its own: nothing is ever answered, and the one it came over may change.
    const client = this.#client ?? new Client(this.#server, this.#server.connections.nextId(), undefined);
    client.mark(PRIMARY_LINK, true);
    this.#client = client;
    this.#decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
    return client;
  }

  // Applies complete commands, each with the bytes it came in: they count into the offset and go on to our own replicas.
  #take(): void {
    const server = this.#server;
    const decoder = this.#decoder as RequestDecoder;
    const client = this.#client as Client;
    decoder.write(toBuffer(this.#input.slice(this.#decoded)));
    this.#decoded = this.#input.length;
    server.world.expiryPolicy = 'keep';
    for (let argv = decoder.next(); argv !== undefined && this.#beat.running; argv = decoder.next()) {
      server.execute(client, argv);
      if (client.transaction !== undefined) continue;
      const applied = this.#input.length - decoder.buffered;
      server.replication.feedBytes(this.#input.slice(0, applied));
      this.#input = this.#input.slice(applied);
      this.#decoded -= applied;
    }
    server.expiry.follow();
    if (decoder.failure !== undefined) this.#refused('to speak sense', decoder.failure);
  }

  /** A command of the stream failed: the datasets differ from here on. Logged as redis-server does, and counted. */
  failedToApply(command: Bytes, { text }: ReplyError): void {
    const error = text.startsWith('ERR ') ? text.slice(4) : text;
    this.#server.stats.unexpectedErrors++;
    this.#server.log(
      'warning',
      `== CRITICAL == This replica is sending an error to its master: '${error}' after processing the command '${command}'`,
    );
  }

  /** Tells the primary how far we are. */
  acknowledge(): void {
    const words = ['REPLCONF', 'ACK', String(this.#server.replication.offset)];
    const synced = this.#server.durability?.syncedOffset();
    if (synced !== undefined) words.push('FACK', String(synced));
    this.#send(words);
  }

  #drop(): void {
    const connection = this.#link?.connection;
    this.#lost();
    connection?.abort();
  }

  #lost(): void {
    this.#link = undefined;
    this.#decoder = undefined;
    this.#transfer = undefined;
    this.#input = '';
    this.#decoded = 0;
    this.#awaiting = [];
    if (this.#client?.transaction !== undefined) this.#client.discard();
    if (this.state === 'connected') this.downSince = this.#server.host.clock.now();
    this.state = 'connect';
  }
}
