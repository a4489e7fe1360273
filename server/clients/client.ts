/** The server's side of one connection: its protocol, database, transaction, subscriptions and output. */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import type { TypeName } from '../../keyspace/value.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { type DecodeLimits, RequestDecoder } from '../../protocol/decode.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import type { User } from '../acl/user.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Statistics } from '../figures/statistics.ts';
import type { Connection, Host, Receiver, Timer } from '../host/host.ts';
import type { Settings } from '../settings/settings.ts';
import type { Command } from '../table/command.ts';
import { Output, type OutputQueue, UNLIMITED } from './output.ts';
import { Subscriptions } from './subscriptions.ts';
import { Watches } from './watches.ts';

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
  readonly gone: ((key: Bytes) => Reply) | undefined;
  /** What it is answered when time runs out. */
  readonly timeoutReply: () => Reply;
  readonly timer: Timer | undefined;
}

/** The node that a client is connected to, as the client sees it. */
export interface ClientNode {
  readonly acl: { readonly default: User };
  readonly dialect: Dialect;
  readonly host: Host;
  readonly now: Millis;
  readonly settings: Settings;
  readonly stats: Statistics;
  readonly outputLimits: { check(client: Client): void };
  /** Sends what clients have for output when the event is over. */
  readonly outbox: OutputQueue;
  db(index: number): Keyspace;
  decodeLimits(): DecodeLimits;
  execute(client: Client, argv: Bytes[]): void;
  /** Clears up behind a client whose connection is gone. */
  readonly connections: { forget(client: Client): void };
  log(level: 'verbose' | 'warning', text: string): void;
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
  readonly watches = new Watches();
  readonly subscriptions = new Subscriptions();
  readonly output = new Output(this);
  blocked: Blocked | undefined;
  /** The offset in the replication stream after its last command: what WAIT waits for. */
  writeOffset = 0;
  /** Nothing more is read; the connection closes once the output is delivered. */
  closing = false;
  gone = false;
  #draining = false;

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
      this.#refuseBytes(failure);
    } else if (this.decoder.buffered > this.server.settings['client-query-buffer-limit']) {
      this.server.stats.queryBufferDisconnections++;
      this.abort();
    }
  }

  /** Answers bytes that are no request, and closes the connection. */
  #refuseBytes(failure: Bytes): void {
    if (failure !== '') this.output.write(encodeReply(new ReplyError(failure), 2));
    this.server.log('verbose', `Protocol error from client ${this.id}: ${failure}`);
    this.close();
  }

  closed(): void {
    if (this.gone) return;
    this.gone = true;
    this.server.connections.forget(this);
    this.server.settle();
  }

  /** Queues a reply, unless the client has turned replies off. */
  reply(reply: Reply): void {
    if (!this.muted) this.output.write(this.#encode(reply));
  }

  /** A reply too long for a string (MGET of several 200 MB values) costs the client its connection, not us our life. */
  #encode(reply: Reply): Bytes {
    try {
      return encodeReply(reply, this.protocol, this.server.dialect.printDouble);
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

  /** Counts bytes that are handed to the connection. */
  countSent(bytes: number): void {
    const { stats } = this.server;
    stats.bytesOut += bytes;
    if (this.has(REPLICA_LINK)) stats.linkBytesOut += bytes;
    stats.writes++;
  }

  /** Cuts the client off where it has more output than its class may have. */
  checkOutput(): void {
    this.server.outputLimits.check(this);
  }

  /** Closes the connection once everything queued is delivered. */
  close(): void {
    if (this.closing || this.gone) return;
    this.closing = true;
    this.output.reserve();
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
    this.output.mute();
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
    this.watches.clear();
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
}
