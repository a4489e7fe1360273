/**
 * The replica's side of replication: connects to the primary, resyncs in full or in part, applies the stream,
 * acknowledges.
 */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import { type Bytes, fromBuffer, type Millis, parseSafeInteger, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { ReplyError } from '../../protocol/reply.ts';
import { Client, type ClientNode, PRIMARY_LINK } from '../clients/client.ts';
import { loadSnapshot, type SnapshotNode } from '../data/snapshot.ts';
import { Beat } from '../host/beat.ts';
import type { Connection, Host } from '../host/host.ts';
import { silence } from '../host/silence.ts';
import type { Durability, Units } from '../ports.ts';
import { announcedPort, dial, PrimaryDial } from './dial.ts';
import { Pieces } from './pieces.ts';
import { Transfer } from './transfer.ts';

/** The parameters for the login at the primary. */
const PASSWORD = 'masterauth';
const USER = 'masteruser';

/** The longest wait before a dataset that could not be read is requested again, in milliseconds. */
const LONGEST_WAIT = 60_000;

type LinkState = 'connect' | 'connecting' | 'handshake' | 'sync' | 'connected';

/** The node, as the link to its primary sees it. */
export interface ReplicaNode extends ClientNode, SnapshotNode, Units {
  readonly blocking: ClientNode['blocking'] & SnapshotNode['blocking'];
  readonly primary: SnapshotNode['primary'];
  /** The commands that describe this replica, sent before PSYNC. */
  readonly introduction: readonly (readonly Bytes[])[];
  readonly cluster: { readonly introduction: ReplicaNode['introduction'] } | undefined;
  readonly host: Host;
  readonly replication: SnapshotNode['replication'] & {
    readonly failover: { readonly state: string; answered(accepted: boolean): void };
    adopt(id: Bytes, offset: number): void;
    rename(id: Bytes): void;
    feedBytes(bytes: Bytes): void;
    keepBacklog(): void;
    online(): readonly { readonly client: Client }[];
    /** How long links to primaries were down so far, in milliseconds. */
    downtime: Millis;
  };
  readonly expiry: { follow(): void };
  readonly slowScript: { readonly active: boolean };
  readonly vocabulary: { withEvery(work: () => void): void };
  db(index: number): Keyspace;
  readonly connections: ClientNode['connections'] & { nextId(): number };
  readonly durability: Durability | undefined;
}

/** A replica's link to its primary (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/). */
export class ReplicaSide {
  readonly host: Bytes;
  readonly port: number;
  state: LinkState = 'connect';
  /** When the link came up, or before that when this node began to follow, in milliseconds since the epoch. */
  upSince: Millis;
  /** When bytes last arrived. */
  heardAt: Millis;
  /** When the link broke last; undefined if this node has never had one, or is up. */
  downSince: Millis | undefined;
  /** How often this node has connected: since the link was up last, and since it follows this primary. */
  readonly attempts = { current: 0, total: 0 };
  /** Why the link is down, if known; undefined when it is up. */
  trouble: string | undefined;
  // When a dataset that could not be read may be requested again. The wait doubles with each failure.
  #dialAt: Millis = 0;
  #wait: Millis = 1000;
  readonly #server: ReplicaNode;
  #link: PrimaryDial | undefined;
  #client: Client | undefined;
  #decoder: RequestDecoder | undefined;
  // The bytes that have arrived and were not given to the decoder or, during the handshake, not yet interpreted.
  #input = '';
  // The bytes of the stream that the decoder has, and that are not applied. A transaction is applied as a whole, and may be long.
  #unapplied = new Pieces();
  // The handlers of the replies that are still expected: those of the handshake, then PSYNC's.
  #awaiting: ((line: Bytes) => void)[] = [];
  #transfer: Transfer | undefined;
  // The stream had bytes that are no command: only a whole dataset helps.
  #isDamaged = false;
  readonly #beat: Beat;

  /**
   * @param before the link that is given up for this one. Its client applied the stream so far, and has the selected
   * database, for a stream that may continue
   */
  constructor(server: ReplicaNode, host: Bytes, port: number, before?: ReplicaSide) {
    this.#server = server;
    this.#beat = new Beat(server, () => this.#review());
    this.host = host;
    this.port = port;
    this.heardAt = server.now;
    this.upSince = server.now;
    this.downSince = before?.downSince;
    this.#client = before?.client;
  }

  /** Starts to follow: connects at once, and reconnects when the connection is lost. */
  start(): void {
    this.#beat.start();
    this.#dial();
  }

  /** Connects now if the link is down, instead of at the next beat. */
  redial(): void {
    if (this.state === 'connect' && this.#beat.running) this.#dial();
  }

  /** Stops following. The data stays. */
  stop(): void {
    this.#beat.stop();
    this.#drop();
  }

  /** The client that applies the primary's commands; undefined until the first connection. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** The connection to the primary; undefined while there is none. */
  get connection(): Connection | undefined {
    return this.#link?.connection;
  }

  /** Breaks the link, as CLIENT KILL does. The node then reconnects. */
  disconnect(): void {
    const link = this.#link;
    if (link !== undefined) this.closed(link);
    link?.end();
  }

  /** True while the stream is being received and applied. */
  get linkUp(): boolean {
    return this.state === 'connected';
  }

  /** How many bytes of the stream have arrived and are not applied yet. */
  get unapplied(): number {
    return this.linkUp ? this.#unapplied.length + this.#input.length : 0;
  }

  /** The full resync in progress; undefined if there is none. */
  get transfer(): Transfer | undefined {
    return this.#transfer;
  }

  /** Runs once a second: reconnects a lost link, drops a silent one, and acknowledges the offset. */
  #review(): void {
    const server = this.#server;
    const now = server.host.clock.now();
    const timeout = server.settings['repl-timeout'] * 1000;
    if (this.state === 'connect') {
      if (now >= this.#dialAt) this.#dial();
    } else if (silence(server.host, now, this.heardAt, timeout) > timeout) this.#drop();
    else if (this.state === 'connected') this.acknowledge();
    server.settle();
  }

  #dial(): void {
    const { host, settings } = this.#server;
    const { clock } = host;
    const withTls = settings['tls-replication'];
    const link = new PrimaryDial(this);
    this.#link = link;
    this.state = 'connecting';
    this.attempts.current++;
    this.attempts.total++;
    this.heardAt = clock.now();
    if (withTls && host.connectWithTls === undefined) {
      this.trouble = 'tls-replication is on, and this node has no certificates';
    }
    link.attempt = dial(host, withTls, this, link, (connection) => {
      if (this.#link !== link) return connection.abort();
      link.connection = connection;
      this.heardAt = clock.now();
      this.#shakeHands();
    });
  }

  #send(argv: readonly Bytes[]): void {
    this.#link?.connection?.send(encodeRequest(argv));
  }

  // Like Redis, the replica sends AUTH and all REPLCONF at once after the reply to PING.
  #shakeHands(): void {
    const { settings, cluster } = this.#server;
    const introduction = [...this.#server.introduction, ...(cluster?.introduction ?? [])];
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
        this.#send(['REPLCONF', 'listening-port', String(announcedPort(settings))]);
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
    // Errors are ignored: an old primary may not know these commands, and nothing depends on them.
    for (const _ of introduction) this.#awaiting.push(() => {});
    this.#awaiting.push(
      () => this.#askForStream(),
      (line) => this.#synchronized(line),
    );
  }

  #askForStream(): void {
    const { replication } = this.#server;
    const words = [
      'PSYNC',
      ...(this.#isDamaged ? ['?', '-1'] : [replication.id, String(replication.offset + 1)]),
    ];
    // Tells the new primary that this node hands its role over.
    if (replication.failover.state === 'failover-in-progress') words.push('FAILOVER');
    this.#send(words);
  }

  #refused(what: string, line: Bytes): void {
    this.#failed(`refused ${what}`, line);
  }

  #failed(what: string, line: Bytes): void {
    this.#complain(`Primary ${this.host}:${this.port} ${what}: ${line}`);
    this.#drop();
  }

  /** Reports why the link is down: in the log, and in INFO until it is up again. */
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
      replication.keepBacklog();
      if (id !== '' && id !== replication.id) replication.rename(id);
      this.#connected();
      replication.failover.answered(true);
    } else {
      this.#refused('PSYNC', line);
      replication.failover.answered(false);
    }
  }

  /** Bytes have arrived from the primary. */
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

  /** Applies the bytes that have arrived. While a script keeps the node busy, the stream waits. */
  resume(): void {
    const { slowScript, vocabulary } = this.#server;
    if (this.state === 'connected' && !slowScript.active) vocabulary.withEvery(() => this.#take());
  }

  /** The connection to the primary is closed. */
  closed(link: PrimaryDial): void {
    if (this.#link !== link) return;
    const established = this.state === 'connected';
    this.#lost();
    // Since 7.0 a lost connection is reestablished at once; a failed attempt is repeated at the next beat.
    if (established && this.#beat.running) this.#dial();
    this.#server.settle();
  }

  #readLines(): void {
    while (this.state === 'handshake') {
      const end = this.#input.indexOf('\n');
      if (end < 0) return;
      const line = this.#input.slice(0, end).replace(/\r$/, '');
      this.#input = this.#input.slice(end + 1);
      // The primary sends bare newlines as a keepalive while it prepares a dataset.
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
    if (transfer.failure !== undefined) this.#failed('could not send the dataset', transfer.failure);
    else if (rest !== undefined) this.#load(transfer, rest);
  }

  /** Loads the received dataset in place of the current one. `rest` is the start of the stream behind it. */
  #load(transfer: Transfer, rest: Bytes): void {
    const server = this.#server;
    let db = 0;
    for (const { client } of server.replication.online()) client.abort();
    try {
      db = server.unit(() => loadSnapshot(server, transfer.rdb()));
    } catch (error) {
      // The data is unchanged, so the old offset is still valid.
      const why = error instanceof Error ? error.message : String(error);
      this.#complain(
        `Cannot load the dataset of primary ${this.host}:${this.port}: ${why}; trying again in ${this.#wait / 1000} s`,
      );
      // Each attempt makes the primary send a whole dataset, so the wait grows. (redis-server 7.0 retries at once,
      // forever.)
      this.#dialAt = server.host.clock.now() + this.#wait;
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
      this.#drop();
      return;
    }
    this.#transfer = undefined;
    this.#client = undefined;
    server.replication.adopt(transfer.id, transfer.offset);
    this.#connected().db = server.db(db < server.databaseCount ? db : 0);
    this.acknowledge();
    this.#input = rest;
  }

  #connected(): Client {
    this.state = 'connected';
    this.upSince = this.#server.host.clock.now();
    if (this.downSince !== undefined) this.#server.replication.downtime += this.upSince - this.downSince;
    this.downSince = undefined;
    this.trouble = undefined;
    this.#wait = 1000;
    this.#isDamaged = false;
    // The client has no connection: nothing is ever answered, and the link behind it may change.
    const client = this.#client ?? new Client(this.#server, this.#server.connections.nextId(), undefined);
    client.mark(PRIMARY_LINK, true);
    this.#client = client;
    this.#decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
    return client;
  }

  // Applies the complete commands. Their bytes count into the offset and are passed on to this node's own replicas.
  #take(): void {
    const server = this.#server;
    const decoder = this.#decoder as RequestDecoder;
    const client = this.#client as Client;
    decoder.write(toBuffer(this.#input));
    this.#unapplied.push(this.#input);
    this.#input = '';
    server.world.expiryPolicy = 'keep';
    let failure: string | undefined;
    for (let argv = decoder.next(); argv !== undefined && this.#beat.running; argv = decoder.next()) {
      // A primary sends empty lines as a keepalive, but never a command as a line of words.
      if (decoder.isInline && argv.length > 0) failure = 'a command in one line';
      if (failure !== undefined) break;
      server.execute(client, argv);
      if (client.transaction !== undefined) continue;
      server.replication.feedBytes(this.#unapplied.take(this.#unapplied.length - decoder.buffered));
    }
    server.expiry.follow();
    failure ??= decoder.failure;
    if (failure === undefined) return;
    // Nobody knows where the stream could go on.
    this.#isDamaged = true;
    this.#failed('sent an invalid command stream', failure);
    if (this.#beat.running) this.#dial();
  }

  /** Logs and counts a command of the stream that failed, as redis-server does: the datasets differ from here on. */
  failedToApply(command: Bytes, { text }: ReplyError): void {
    const error = text.startsWith('ERR ') ? text.slice(4) : text;
    this.#server.stats.unexpectedErrors++;
    this.#server.log(
      'warning',
      `== CRITICAL == This replica is sending an error to its master: '${error}' after processing the command '${command}'`,
    );
  }

  /** Sends the primary the offset up to which the stream is applied. */
  acknowledge(): void {
    const words = ['REPLCONF', 'ACK', String(this.#server.replication.offset)];
    const synced = this.#server.durability?.syncedOffset();
    if (synced !== undefined) words.push('FACK', String(synced));
    this.#send(words);
  }

  #drop(): void {
    const link = this.#link;
    this.#lost();
    link?.end();
  }

  #lost(): void {
    this.#link = undefined;
    this.#decoder = undefined;
    this.#transfer = undefined;
    this.#input = '';
    this.#unapplied = new Pieces();
    this.#awaiting = [];
    if (this.#client?.transaction !== undefined) this.#client.discard();
    const now = this.#server.host.clock.now();
    if (this.state === 'connected') [this.downSince, this.attempts.current] = [now, 0];
    this.state = 'connect';
  }
}
