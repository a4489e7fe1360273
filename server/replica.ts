/** The replica's side of replication: dial the primary, handshake, full or partial resync, apply the stream, acknowledge. */
import { type Bytes, fromBuffer, type Millis, parseSafeInteger, toBuffer } from '../protocol/bytes.ts';
import { RequestDecoder } from '../protocol/decode.ts';
import { encodeRequest } from '../protocol/encode.ts';
import { Client, PRIMARY_LINK } from './client.ts';
import type { Connection, Receiver, Timer } from './host.ts';
import type { Server } from './server.ts';
import { loadSnapshot } from './snapshot.ts';

/** The parameter that holds what to log in with at the primary. */
const PASSWORD = 'masterauth';

/** Cron's step: a lost primary is dialled again, and offsets are acknowledged, once a second. */
const BEAT = 1000;

type State = 'connect' | 'connecting' | 'handshake' | 'sync' | 'connected';

export class ReplicaSide implements Receiver {
  readonly host: Bytes;
  readonly port: number;
  state: State = 'connect';
  /** When bytes last arrived. */
  heardAt: Millis;
  downSince: Millis;
  readonly #server: Server;
  #connection: Connection | undefined;
  #client: Client | undefined;
  #decoder: RequestDecoder | undefined;
  // What has arrived and is not applied yet; during the handshake: not interpreted yet.
  #input = '';
  // How much of the input the decoder has been given.
  #decoded = 0;
  // Replies of the handshake still to come, then what PSYNC says.
  #awaiting: ((line: Bytes) => void)[] = [];
  #transfer: { id: Bytes; offset: number; length: number; mark: Bytes } | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(server: Server, host: Bytes, port: number) {
    this.#server = server;
    this.host = host;
    this.port = port;
    this.heardAt = server.now;
    this.downSince = server.now;
  }

  /** Begins to follow: dials at once, then keeps the connection up. */
  start(): void {
    this.#dial();
    this.#arm();
  }

  /** Ends following; the data stays. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#drop();
  }

  /** The client that applies the primary's commands, while connected. */
  get client(): Client | undefined {
    return this.#client;
  }

  get linkUp(): boolean {
    return this.state === 'connected';
  }

  #arm(): void {
    const { clock } = this.#server.host;
    this.#timer = clock.at(clock.now() + BEAT, () => this.#beat());
  }

  #beat(): void {
    if (this.#stopped) return;
    const server = this.#server;
    const now = server.host.clock.now();
    if (this.state === 'connect') this.#dial();
    else if (now - this.heardAt > server.settings['repl-timeout'] * 1000) this.#drop();
    else if (this.state === 'connected') this.acknowledge();
    this.#arm();
    server.settle();
  }

  #dial(): void {
    this.state = 'connecting';
    this.heardAt = this.#server.host.clock.now();
    this.#server.host.connect(this.host, this.port, this, (connection) => {
      if (this.#stopped) return connection.abort();
      this.#connection = connection;
      this.#shakeHands();
    });
  }

  #shakeHands(): void {
    const { settings, replication } = this.#server;
    this.state = 'handshake';
    const send = (argv: readonly Bytes[]): void => this.#connection?.send(encodeRequest(argv));
    const fineIf = (fine: boolean): void => {
      if (!fine) this.#drop();
    };
    send(['PING']);
    this.#awaiting = [
      (line) => {
        fineIf(/^(\+|-NOAUTH|-NOPERM|-ERR operation not permitted)/.test(line));
        if (settings[PASSWORD] !== '') send(['AUTH', settings[PASSWORD]]);
        send(['REPLCONF', 'listening-port', String(settings.port)]);
        send(['REPLCONF', 'capa', 'eof', 'capa', 'psync2']);
      },
    ];
    if (settings[PASSWORD] !== '') this.#awaiting.push((line) => fineIf(!line.startsWith('-')));
    this.#awaiting.push(
      () => {},
      () => send(['PSYNC', replication.id, String(replication.offset + 1)]),
      (line) => this.#synchronized(line),
    );
  }

  #synchronized(line: Bytes): void {
    const [kind, id = '', offset = ''] = line.split(' ');
    const { replication } = this.#server;
    if (kind === '+FULLRESYNC') {
      this.state = 'sync';
      this.#transfer = { id, offset: parseSafeInteger(offset) ?? 0, length: -1, mark: '' };
    } else if (kind === '+CONTINUE') {
      if (id !== '' && id !== replication.id) {
        replication.secondId = replication.id;
        replication.secondOffset = replication.offset + 1;
        replication.id = id;
        for (const { client } of replication.online()) client.abort();
      }
      this.#connected();
    } else if (/^-(NOMASTERLINK|LOADING)/.test(line)) {
      this.#drop();
    } else {
      this.#server.log('warning', `Primary refused PSYNC: ${line}`);
      this.#drop();
    }
  }

  receive(chunk: Uint8Array): void {
    if (this.#stopped) return;
    this.heardAt = this.#server.host.clock.now();
    this.#input += fromBuffer(chunk);
    if (this.state === 'handshake') this.#readLines();
    if (this.state === 'sync') this.#readTransfer();
    if (this.state === 'connected') this.#take();
    this.#server.settle();
  }

  closed(): void {
    if (this.#connection !== undefined || this.state === 'connecting') this.#lost();
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
  }

  #readTransfer(): void {
    const transfer = this.#transfer;
    if (transfer === undefined) return;
    if (transfer.length < 0) {
      while (this.#input.startsWith('\n')) this.#input = this.#input.slice(1);
      const end = this.#input.indexOf('\r\n');
      if (end < 0) return;
      const header = this.#input.slice(1, end);
      this.#input = this.#input.slice(end + 2);
      if (header.startsWith('EOF:')) {
        transfer.mark = header.slice(4);
        transfer.length = 0;
      } else {
        transfer.length = parseSafeInteger(header) ?? 0;
      }
    }
    const length = transfer.mark === '' ? transfer.length : this.#input.indexOf(transfer.mark);
    if (length < 0 || this.#input.length < length + transfer.mark.length) return;
    const rdb = this.#input.slice(0, length);
    this.#input = this.#input.slice(length + transfer.mark.length);
    this.#load(rdb, transfer.id, transfer.offset);
  }

  #load(rdb: Bytes, id: Bytes, offset: number): void {
    const server = this.#server;
    this.#transfer = undefined;
    for (const { client } of server.replication.online()) client.abort();
    server.unit(() => loadSnapshot(server, rdb));
    server.replication.adopt(id, offset);
    this.#connected();
    this.acknowledge();
  }

  #connected(): void {
    this.state = 'connected';
    const connection = this.#connection as Connection;
    const client = this.#client ?? new Client(this.#server, this.#server.nextClientId(), connection);
    client.mark(PRIMARY_LINK, true);
    this.#client = client;
    this.#decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
  }

  // Applies complete commands, each with the bytes it came in: they count into the offset and go on to our own replicas.
  #take(): void {
    const server = this.#server;
    const decoder = this.#decoder as RequestDecoder;
    const client = this.#client as Client;
    decoder.write(toBuffer(this.#input.slice(this.#decoded)));
    this.#decoded = this.#input.length;
    server.world.expiryPolicy = 'keep';
    for (let argv = decoder.next(); argv !== undefined && !this.#stopped; argv = decoder.next()) {
      server.execute(client, argv);
      if (client.transaction !== undefined) continue;
      const applied = this.#input.length - decoder.buffered;
      server.replication.feedBytes(this.#input.slice(0, applied));
      this.#input = this.#input.slice(applied);
      this.#decoded -= applied;
    }
    server.expiry.follow();
  }

  /** Tells the primary how far we are. */
  acknowledge(): void {
    const { replication } = this.#server;
    const words = ['REPLCONF', 'ACK', String(replication.offset)];
    const synced = this.#server.syncedOffset();
    if (synced !== undefined) words.push('FACK', String(synced));
    this.#connection?.send(encodeRequest(words));
  }

  #drop(): void {
    const connection = this.#connection;
    this.#lost();
    connection?.abort();
  }

  #lost(): void {
    this.#connection = undefined;
    this.#decoder = undefined;
    this.#transfer = undefined;
    this.#input = '';
    this.#decoded = 0;
    this.#awaiting = [];
    if (this.#client?.transaction !== undefined) this.#server.discard(this.#client);
    if (this.state === 'connected') this.downSince = this.#server.host.clock.now();
    this.state = 'connect';
  }
}
