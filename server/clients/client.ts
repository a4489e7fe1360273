/** The server's side of one connection: its protocol, database, transaction, subscriptions and output. */
import type { Keyspace, Watcher } from '../../keyspace/keyspace.ts';
import type { TypeName } from '../../keyspace/value.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { type DecodeLimits, RequestDecoder } from '../../protocol/decode.ts';
import { encodeReply } from '../../protocol/encode.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { User } from '../acl/user.ts';
import type { Statistics } from '../figures/statistics.ts';
import type { Connection, Host, Receiver, Timer } from '../host/host.ts';
import type { Settings } from '../settings/settings.ts';
import type { Command } from '../table/command.ts';
import type { PushMessage } from './message.ts';

/** States that need a closer look before a command runs; zero for an ordinary client. */
export const UNAUTHENTICATED = 1;
export const IN_MULTI = 2;
export const RESP2_SUBSCRIBER = 4;
export const REPLY_OFF = 8;
export const REPLY_SKIP = 16;
/** CLIENT REPLY SKIP has been said: the next command gets no reply. */
export const REPLY_SKIP_NEXT = 2048;
/** The link to our primary: its commands are applied, not answered. */
export const PRIMARY_LINK = 32;
/** A replica that follows us. */
export const REPLICA_LINK = 64;
/** Runs commands on behalf of a script. */
export const SCRIPT = 128;
/** What it writes is kept from replicas: a script said redis.set_repl. */
export const UNREPLICATED = 1048576;
export const MONITOR = 512;
/** A user whose ACL rules must be asked. */
export const RESTRICTED = 1024;

/** What it reads is tracked for client-side caching. */
export const TRACKING = 4096;
/** Spared when memory of connections is reclaimed. */
export const NO_EVICT = 8192;
/** Its commands do not count as uses of their keys. */
export const NO_TOUCH = 16384;
/** It said that it follows redirections: a replica sends it to the primary. */
export const FOLLOWS_REDIRECTS = 4194304;
/** It reads from replicas, although it follows redirections. */
export const READS_REPLICAS = 8388608;

/** A client in one of these states gets no replies, only pushes. */
const MUTED = REPLY_OFF | REPLY_SKIP | PRIMARY_LINK;

/** The commands queued since MULTI. */
export interface Transaction {
  readonly queue: { command: Command; argv: Bytes[] }[];
  /** A command was refused while queueing: EXEC will discard all. */
  aborted: boolean;
}

/** A key that WATCH saw, as one client's watch on it. */
export class Watch implements Watcher {
  readonly db: Keyspace;
  readonly key: Bytes;
  /** It was past its deadline already when watched, so that its removal is no change. */
  expired: boolean;
  readonly #client: Client;

  constructor(client: Client, key: Bytes, expired: boolean) {
    this.#client = client;
    this.db = client.db;
    this.key = key;
    this.expired = expired;
  }

  touch(): void {
    if (this.expired && !this.db.entries.has(this.key)) this.expired = false;
    else this.#client.touched = true;
  }
}

/** More output than this is handed over before the end of the batch: a string cannot grow beyond 512 MB. */
const OUT_MAX = 64 * 1024 ** 2;

/** So much output is never too much: Redis keeps it in a buffer that it does not count. */
const UNLIMITED = 16 * 1024;

/** What a client waits for. */
export interface Blocked {
  /**
   * 'key': data on one of `keys`; 'wait': acknowledgements; 'pause': CLIENT PAUSE; 'script': a slow script of its own;
   * 'migrate': its MIGRATE.
   */
  readonly kind: 'key' | 'wait' | 'pause' | 'script' | 'migrate';
  readonly db: Keyspace;
  readonly keys: readonly Bytes[];
  /** Only values of this type can serve it; undefined: any. */
  readonly type: TypeName | undefined;
  /** Tries to serve the client from a key that is ready; undefined: nothing for it there. */
  readonly serve: (key: Bytes) => Reply | undefined;
  /** What it is answered when a key is gone, or holds something else; undefined: it waits on. */
  readonly gone: Reply | undefined;
  /** What it is answered when time runs out. */
  readonly timeoutReply: () => Reply;
  readonly timer: Timer | undefined;
}

/** The node that a client is connected to, as the client sees it. */
export interface ClientNode {
  readonly acl: { readonly default: User };
  readonly host: Host;
  readonly now: Millis;
  readonly settings: Settings;
  readonly stats: Statistics;
  readonly outputLimits: { check(client: Client): void };
  /** Sends what clients have for output when the event is over. */
  readonly outbox: { add(client: Client): void };
  db(index: number): Keyspace;
  decodeLimits(): DecodeLimits;
  execute(client: Client, argv: Bytes[]): void;
  /** The client's connection is gone. */
  forget(client: Client): void;
  log(level: 'verbose' | 'warning', text: string): void;
  /** Answers bytes that are no request, and closes the connection. */
  protocolError(client: Client, text: Bytes): void;
  settle(): void;
}

export class Client<Node extends ClientNode = ClientNode> implements Receiver {
  readonly id: number;
  readonly server: Node;
  /** undefined for a script's and other built-in clients. */
  readonly connection: Connection | undefined;
  readonly decoder: RequestDecoder;
  readonly limits: DecodeLimits;
  readonly createdAt: Millis;
  usedAt: Millis;
  /** When bytes last came; kept only where `timeout` asks for it. */
  heardAt: Millis;
  db: Keyspace;
  protocol: 2 | 3 = 2;
  /** The states above, as bits. */
  state = 0;
  name: Bytes = '';
  /** The ACL user that it is logged in as, or would be. */
  account: User;
  library: { name: Bytes; version: Bytes } = { name: '', version: '' };
  lastCommand: Command | undefined;
  transaction: Transaction | undefined;
  readonly watched: Watch[] = [];
  /** A watched key has changed. */
  touched = false;
  readonly channels = new Set<Bytes>();
  readonly patterns = new Set<Bytes>();
  readonly shardChannels = new Set<Bytes>();
  blocked: Blocked | undefined;
  /** The offset in the replication stream after its last command: what WAIT waits for. */
  writeOffset = 0;
  /** Replies not handed to the connection yet. */
  #out = '';
  /** Pushes that wait for the end of EXEC's reply. */
  #held: Bytes | undefined;
  /** Nothing more is read; the connection closes once the output is delivered. */
  closing = false;
  gone = false;
  #draining = false;
  /** The outbox has it. */
  #listed = false;
  #mute = false;

  constructor(server: Node, id: number, connection: Connection | undefined) {
    this.server = server;
    this.id = id;
    this.connection = connection;
    this.db = server.db(0);
    this.account = server.acl.default;
    this.createdAt = server.now;
    this.usedAt = server.now;
    this.heardAt = server.now;
    this.limits = server.decodeLimits();
    this.decoder = new RequestDecoder(this.limits);
  }

  receive(chunk: Uint8Array): void {
    if (this.gone || this.closing) return;
    if (this.server.settings.timeout > 0) this.heardAt = this.server.host.clock.now();
    this.server.stats.bytesIn += chunk.length;
    this.server.stats.reads++;
    this.decoder.write(chunk);
    this.drain();
    this.server.settle();
  }

  /** Executes the complete requests at hand, until one blocks or the stream is broken. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      while (this.blocked === undefined && !this.closing && !this.gone) {
        const argv = this.decoder.next();
        if (argv === undefined) break;
        this.server.execute(this, argv);
      }
    } finally {
      this.#draining = false;
    }
    if (this.closing || this.gone) return;
    if (this.blocked === undefined) this.#checkInput();
    else this.decoder.retain();
  }

  #checkInput(): void {
    const failure = this.decoder.failure;
    if (failure !== undefined) {
      this.server.protocolError(this, failure);
    } else if (this.decoder.buffered > this.server.settings['client-query-buffer-limit']) {
      this.server.stats.queryBufferDisconnections++;
      this.abort();
    }
  }

  closed(): void {
    if (this.gone) return;
    this.gone = true;
    this.server.forget(this);
    this.server.settle();
  }

  /** Queues a reply, unless the client has turned replies off. */
  reply(reply: Reply): void {
    if (!this.muted) this.write(this.#encode(reply));
  }

  /** A reply too long for a string (MGET of several 200 MB values) costs the client its connection, not us our life. */
  #encode(reply: Reply): Bytes {
    try {
      return encodeReply(reply, this.protocol);
    } catch (error) {
      this.server.log('warning', `A reply to client ${this.id} cannot be written: ${error}`);
      this.abort();
      return '';
    }
  }

  /** True when replies are not sent, only pushes. */
  get muted(): boolean {
    return (this.state & MUTED) !== 0;
  }

  /** Queues a message outside the request-reply order. */
  push(message: PushMessage): void {
    const bytes = message.bytes(this.protocol);
    if (this.#held !== undefined && this.protocol === 3) this.#held += bytes;
    else this.write(bytes);
  }

  /** Keeps RESP3's pushes back until `releasePushes`: an array is being written, which they would break. */
  holdPushes(): void {
    this.#held = '';
  }

  releasePushes(): void {
    const held = this.#held ?? '';
    this.#held = undefined;
    if (held !== '') this.write(held);
  }

  /** Queues encoded bytes. */
  write(bytes: Bytes): void {
    if (this.connection === undefined || this.gone || this.#mute || bytes === '') return;
    this.reserve();
    if (this.#out.length + bytes.length > OUT_MAX) this.#send();
    this.#out += bytes;
    if (this.#out.length > UNLIMITED) this.server.outputLimits.check(this);
  }

  /** Takes the client's place in the order of writes, though there may be nothing to write yet. */
  reserve(): void {
    if (this.#listed || this.connection === undefined) return;
    this.#listed = true;
    this.server.outbox.add(this);
  }

  /** Drops the queued output and all that would follow: the client is about to be cut off. */
  mute(): void {
    this.#mute = true;
    this.#out = '';
  }

  /** What is queued is the last that the far end hears. */
  fallSilent(): void {
    this.#mute = true;
  }

  /** Bytes of output that the far end has not taken. */
  get outputBytes(): number {
    return this.#out.length + (this.connection?.pending ?? 0);
  }

  /** Hands the queued output to the connection. */
  flush(): void {
    this.#listed = false;
    if (this.gone || this.connection === undefined) return;
    if (this.#out.length !== 0) this.#send();
    if (this.closing) this.connection.close();
  }

  #send(): void {
    const { stats } = this.server;
    stats.bytesOut += this.#out.length;
    if (this.has(REPLICA_LINK)) stats.linkBytesOut += this.#out.length;
    stats.writes++;
    this.connection?.send(this.#out);
    this.#out = '';
    if (this.connection !== undefined && this.connection.pending > UNLIMITED) {
      this.server.outputLimits.check(this);
    }
  }

  /** Closes the connection once everything queued is delivered. */
  close(): void {
    if (this.closing || this.gone) return;
    this.closing = true;
    this.reserve();
  }

  /** Hangs up, as redis-server does where a connection is killed: an end, no reset, unless much is on its way still. */
  drop(): void {
    if (this.gone) return;
    if ((this.connection?.pending ?? 0) > UNLIMITED) this.connection?.abort();
    else this.connection?.close();
    this.closed();
  }

  /** Closes at once, in good order where everything has been delivered; queued output is lost. */
  cut(): void {
    if (this.gone) return;
    this.mute();
    if (this.connection === undefined || this.connection.pending > 0) this.connection?.abort();
    else this.connection.close();
    this.closed();
  }

  /** Resets the connection at once; queued output is lost. */
  abort(): void {
    if (this.gone) return;
    this.connection?.abort();
    this.closed();
  }

  /** Ends the transaction being queued, without effect. */
  discard(): void {
    this.transaction = undefined;
    this.mark(IN_MULTI, false);
    this.unwatch();
  }

  /** Forgets the keys that it watches. */
  unwatch(): void {
    for (const watch of this.watched) {
      const { db, key } = watch;
      const watchers = db.watchers.get(key);
      watchers?.delete(watch);
      if (watchers?.size === 0) db.watchers.delete(key);
    }
    this.watched.length = 0;
    this.touched = false;
  }

  /** Sets or clears one of the states. */
  mark(state: number, on: boolean): void {
    this.state = on ? this.state | state : this.state & ~state;
  }

  has(state: number): boolean {
    return (this.state & state) !== 0;
  }

  /** The name of its ACL user. */
  get user(): Bytes {
    return this.account.name;
  }

  get subscriptions(): number {
    return this.channels.size + this.patterns.size;
  }
}
