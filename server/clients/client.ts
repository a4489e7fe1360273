/** The server's side of one connection: its protocol, database, transaction, subscriptions and output. */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import type { TypeName } from '../../keyspace/value.ts';
import { type MemoryRule, OverLimit } from '../../protocol/allowance.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { encodeReply } from '../../protocol/encode.ts';
import type { DecodeLimits } from '../../protocol/limits.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import type { User } from '../acl/user.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { ReplyBuffer, type ReplyBufferRules } from '../figures/reply-buffer.ts';
import type { Statistics } from '../figures/statistics.ts';
import type { Connection, Host, Receiver, Timer } from '../host/host.ts';
import type { Settings } from '../settings/settings.ts';
import { type Command, QUICK } from '../table/command.ts';
import { LONG_BULK, Output, type OutputQueue, UNLIMITED } from './output.ts';
import { Subscriptions } from './subscriptions.ts';
import { Watches } from './watches.ts';

/**
 * The states of a client that require extra checks before a command runs. An ordinary client has none. This one: it has
 * not logged in.
 */
export const UNAUTHENTICATED = 1;
/** The client is queueing a transaction. */
export const IN_MULTI = 2;
/** The client is subscribed over RESP2, which allows only a few commands. */
export const RESP2_SUBSCRIBER = 4;
/** CLIENT REPLY OFF is in force. */
export const REPLY_OFF = 8;
/** The current command gets no reply. */
export const REPLY_SKIP = 16;
/** CLIENT REPLY SKIP was received: the next command gets no reply. */
export const REPLY_SKIP_NEXT = 2048;
/** The link to the node's primary: its commands are applied without replies. */
export const PRIMARY_LINK = 32;
/** A replica of this node. */
export const REPLICA_LINK = 64;
/** The client runs commands on behalf of a script. */
export const SCRIPT = 128;
/** The client's writes are not sent to replicas: a script called redis.set_repl. */
export const UNREPLICATED = 1048576;
/** The client's writes are not stored in the append-only file, for the same reason. */
export const UNSTORED = 2097152;
/** The client has sent MONITOR. */
export const MONITOR = 512;
/** The client's user is restricted by ACL rules, which must be checked. */
export const RESTRICTED = 1024;

/** The client's reads are tracked for client-side caching. */
export const TRACKING = 4096;
/** `maxmemory-clients` does not evict the client. */
export const NO_EVICT = 8192;
/** The client's commands do not count as uses of their keys. */
export const NO_TOUCH = 16384;
/** It said that it follows redirections: a replica sends it to the primary. */
export const FOLLOWS_REDIRECTS = 4194304;
/** It reads from replicas, although it follows redirections. */
export const READS_REPLICAS = 8388608;

/** It imports data (CLIENT IMPORT-SOURCE): in import mode it sees expired keys. */
export const IMPORT_SOURCE = 16777216;

/** ASKING was received: the next request may use a slot that is being moved to this node. */
export const ASKING_NEXT = 67108864;
/** The current request may use such a slot. */
export const ASKING = 33554432;

/** A client in one of these states receives no replies, only pushes. */
const MUTED = REPLY_OFF | REPLY_SKIP | PRIMARY_LINK;

/** The commands queued since MULTI. */
export interface Transaction {
  readonly queue: { command: Command; argv: Bytes[] }[];
  /** About how many bytes the queue takes. */
  bytes: number;
  /** The database that a queued SELECT will choose, where rules about databases ask for it. */
  database?: number | undefined;
  /** A command was refused while queueing: EXEC will discard the transaction. */
  aborted: boolean;
}

/** What a client waits for. */
export interface Blocked {
  /**
   * 'key': data on one of `keys`; 'wait': acknowledgements; 'pause': CLIENT PAUSE; 'script': its own slow script;
   * 'migrate': its own MIGRATE; 'lab': its own LAB command.
   */
  readonly kind: 'key' | 'wait' | 'pause' | 'script' | 'migrate' | 'lab';
  readonly db: Keyspace;
  readonly keys: readonly Bytes[];
  /** Only values of this type can serve the client; undefined: any type. */
  readonly type: TypeName | undefined;
  /** Tries to serve the client from ready keys. Returns undefined if they have nothing for it. */
  readonly serve: (keys: readonly Bytes[]) => Reply | undefined;
  /** The reply when a key is gone or holds another type; undefined: the client keeps waiting. */
  readonly gone: ((key: Bytes) => Reply) | undefined;
  readonly timeoutReply: () => Reply;
  readonly timer: Timer | undefined;
  /** True while the call is not counted, because it is counted when it ends. */
  isUncounted?: boolean;
  /** The words of the request that blocked the client, for the slow log. */
  argv: Bytes[];
  /** Tries to serve the client when a key has something for it only because time has passed. */
  alarm?: Timer;
}

/** Counts what a request sends to replicas. */
interface ReplicationCounter {
  replicated(effects: readonly { argv: readonly Bytes[] }[], atomic: boolean, replicas: number): void;
}

/** The node that a client is connected to, as the client sees it. */
export interface ClientNode {
  readonly acl: { readonly default: User };
  readonly slowScript: { readonly active: boolean };
  /** The primary that the node follows; undefined on a primary. */
  readonly primary: unknown;
  /** Counts the clients that wait for keys. */
  readonly blocking: { readonly count: number };
  readonly dialect: Dialect;
  readonly host: Host;
  readonly now: Millis;
  readonly current: { fresh: boolean; readonly wasBrief: boolean };
  /** Sees each request first; undefined: there is none. */
  readonly interceptor: unknown;
  readonly settings: Settings;
  readonly memory: MemoryRule;
  readonly stats: Statistics;
  /** Logs large replies, and counts what requests cost each slot. */
  readonly observer: {
    /** Forgets the current request, because it was quick. */
    dismiss(): void;
    readonly sizes: { readonly active: boolean; answered(client: Client): void };
    readonly usage: ReplicationCounter | undefined;
    readonly watcher: { answered(client: Client, reply: Reply): void } | undefined;
  };
  readonly outputLimits: { check(client: Client): void };
  readonly replyBuffers: ReplyBufferRules;
  /** Sends the clients' output at the end of the event. */
  readonly outbox: OutputQueue;
  /** Returns a database by number. Throws RangeError if it does not exist. */
  db(index: number): Keyspace;
  /** The limits for requests that are being decoded. */
  decodeLimits(): DecodeLimits;
  /** Runs a request and queues its reply. */
  execute(client: Client, argv: Bytes[]): void;
  /** Removes a client whose connection is closed. */
  readonly connections: { forget(client: Client): void };
  log(level: 'verbose' | 'warning', text: string): void;
  /** Ends an event: serves blocked clients, arms the expiry timer, sends the queued output. */
  settle(): void;
}

/** One client of a node. Bytes arrive at `receive`; replies leave through `output`. */
export class Client<Node extends ClientNode = ClientNode> implements Receiver {
  readonly id: number;
  readonly server: Node;
  /** undefined for the clients of scripts and other internal clients. */
  readonly connection: Connection | undefined;
  readonly decoder: RequestDecoder;
  readonly limits: DecodeLimits;
  readonly createdAt: Millis;
  usedAt: Millis;
  /** When bytes last arrived, in milliseconds since the epoch; kept only if `timeout` is set. */
  heardAt: Millis;
  db: Keyspace;
  protocol: 2 | 3 = 2;
  /** The states above, as a bit mask. */
  state = 0;
  name: Bytes = '';
  /** The ACL user that the client is logged in as, or would be. */
  account: User;
  library: { name: Bytes; version: Bytes } = { name: '', version: '' };
  lastCommand: Command | undefined;
  /** Bytes that the connection received and sent, and the calls that ended, those of its scripts included. */
  readonly totals = { bytesIn: 0, bytesOut: 0, commands: 0 };
  transaction: Transaction | undefined;
  readonly watches = new Watches();
  readonly subscriptions = new Subscriptions();
  readonly output = new Output(this);
  readonly replyBuffer: ReplyBuffer;
  blocked: Blocked | undefined;
  /** The replication offset that WAIT and WAITAOF wait for. */
  writeOffset = 0;
  /** No more requests are read; the connection closes when the output is delivered. */
  closing = false;
  gone = false;
  #draining = false;
  /** The connection has ended; requests that came before still wait. */
  #hasLeft = false;

  constructor(server: Node, id: number, connection: Connection | undefined) {
    this.server = server;
    this.id = id;
    this.connection = connection;
    this.db = server.db(0);
    this.account = server.acl.default;
    this.createdAt = server.now;
    this.usedAt = server.now;
    this.heardAt = server.now;
    this.replyBuffer = new ReplyBuffer(server);
    this.limits = server.decodeLimits();
    this.decoder = new RequestDecoder(this.limits);
  }

  get othersWait(): boolean {
    return this.server.blocking.count > 0 || this.server.primary !== undefined;
  }

  get hearsFirst(): boolean {
    return this.has(REPLICA_LINK);
  }

  get waits(): boolean {
    return this.blocked?.kind === 'key';
  }

  /** Decodes bytes from the connection and runs the complete requests. */
  receive(chunk: Uint8Array): void {
    if (this.gone || this.closing) return;
    if (this.server.settings.timeout > 0) this.heardAt = this.server.host.clock.now();
    this.server.stats.bytesIn += chunk.length;
    this.totals.bytesIn += chunk.length;
    this.server.stats.reads++;
    this.decoder.write(chunk);
    this.drain();
    this.server.settle();
  }

  /** Runs the complete requests, until one blocks or the protocol is violated. */
  drain(): void {
    if (this.#draining) return;
    const { current } = this.server;
    this.#draining = true;
    try {
      while (this.blocked === undefined && !this.closing && !this.gone) {
        const argv = this.decoder.next();
        if (argv === undefined) break;
        this.server.execute(this, argv);
        current.fresh = this.#wasQuick();
      }
    } finally {
      // A quick request is not slow, so the clock need not be read again.
      if (current.fresh) this.server.observer.dismiss();
      current.fresh = false;
      this.#draining = false;
    }
    if (this.closing || this.gone) return;
    if (this.#hasLeft) this.closed();
    else if (this.blocked === undefined) this.#checkInput();
    else this.decoder.retain();
  }

  /** True if the last request took hardly any time. What an interceptor does is unknown. */
  #wasQuick(): boolean {
    const { lastCommand, server } = this;
    if (lastCommand === undefined || server.interceptor !== undefined) return false;
    // A transaction may have run a brief script among other commands.
    return (lastCommand.bits & QUICK) !== 0 || (server.current.wasBrief && lastCommand.name !== 'exec');
  }

  #checkInput(): void {
    const failure = this.decoder.failure;
    if (failure !== undefined) {
      this.#refuseBytes(failure);
    } else if (this.#isTooMuch()) {
      this.server.stats.queryBufferDisconnections++;
      this.abort();
    }
  }

  /** True if the client has sent more than the node keeps for it: part of a request, or a transaction that it queues. */
  #isTooMuch(): boolean {
    const { settings, memory } = this.server;
    const bytes = this.decoder.buffered + this.decoder.held + (this.transaction?.bytes ?? 0);
    return bytes > Math.min(settings['client-query-buffer-limit'], memory.limit) && !this.has(PRIMARY_LINK);
  }

  /** Answers bytes that are not a valid request, and closes the connection. */
  #refuseBytes(failure: Bytes): void {
    if (failure !== '') this.output.write(encodeReply(new ReplyError(failure), 2));
    this.server.log('verbose', `Protocol error from client ${this.id}: ${failure}`);
    this.close();
  }

  /**
   * The connection is closed: the node forgets the client. Requests that had to wait for a slow script run first: redis-server
   * would not have read the end yet.
   */
  closed(): void {
    if (this.blocked?.kind === 'pause' && this.server.slowScript.active) this.#hasLeft = true;
    else this.#leave();
  }

  #leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.server.connections.forget(this);
    this.server.settle();
  }

  /** Queues a reply, unless the client has turned replies off. */
  reply(reply: Reply): void {
    if (!this.muted && !this.disconnectsReplica()) {
      if (typeof reply === 'string' && reply.length >= LONG_BULK) this.output.writeBulk(reply);
      else this.output.write(this.#encode(reply));
    }
    const { sizes, watcher } = this.server.observer;
    if (sizes.active) sizes.answered(this);
    watcher?.answered(this, reply);
  }

  /**
   * A replica gets its primary's stream on this connection, in which a reply has no place: one that sends a command with a
   * reply is disconnected, and the reply is lost. A client that monitors is marked as a replica, and gets its replies.
   * @returns whether the client must not get the reply
   */
  disconnectsReplica(): boolean {
    if (!this.has(REPLICA_LINK) || this.has(MONITOR)) return false;
    const command = this.lastCommand?.fullName ?? '<unknown>';
    this.server.log('warning', `Replica generated a reply to command '${command}', disconnecting it`);
    this.output.mute();
    this.close();
    return true;
  }

  /**
   * Encodes a reply. A reply too long for a JavaScript string (such as an MGET of several 200 MB values) closes the
   * connection instead of crashing the process.
   */
  #encode(reply: Reply): Bytes {
    try {
      return encodeReply(reply, this.protocol, this.server.dialect.printDouble);
    } catch (error) {
      if (error instanceof OverLimit)
        return encodeReply(new ReplyError(`ERR the reply ${error.message}`), this.protocol);
      this.server.log('warning', `A reply to client ${this.id} cannot be written: ${error}`);
      this.abort();
      return '';
    }
  }

  /** True while the client receives only pushes, no replies. */
  get muted(): boolean {
    return (this.state & MUTED) !== 0;
  }

  /** Counts bytes that were handed to the connection. */
  countSent(bytes: number): void {
    const { stats } = this.server;
    stats.bytesOut += bytes;
    this.totals.bytesOut += bytes;
    this.replyBuffer.use(bytes);
    if (this.has(REPLICA_LINK)) stats.linkBytesOut += bytes;
    stats.writes++;
  }

  /** Closes the connection if the client has more undelivered output than its class allows. */
  checkOutput(): void {
    this.server.outputLimits.check(this);
  }

  /** Closes the connection when all queued output is delivered. */
  close(): void {
    if (this.closing || this.gone) return;
    this.closing = true;
    this.output.reserve();
  }

  /** Closes a connection as redis-server does for CLIENT KILL: with FIN, or with RST while much output is undelivered. */
  drop(): void {
    if (this.gone) return;
    if ((this.connection?.pending ?? 0) > UNLIMITED) this.connection?.abort();
    else this.connection?.close();
    this.#leave();
  }

  /** Closes the connection at once, with FIN if all output was delivered. Queued output is lost. */
  cut(): void {
    if (this.gone) return;
    this.output.mute();
    if (this.connection === undefined || this.connection.pending > 0) this.connection?.abort();
    else this.connection.close();
    this.#leave();
  }

  /** Resets the connection at once; queued output is lost. */
  abort(): void {
    if (this.gone) return;
    this.connection?.abort();
    this.#leave();
  }

  /** Ends the transaction that is being queued without running it. */
  discard(): void {
    this.transaction = undefined;
    this.mark(IN_MULTI, false);
    this.watches.clear();
  }

  /** Sets or clears one of the states. */
  mark(state: number, on: boolean): void {
    this.state = on ? this.state | state : this.state & ~state;
  }

  /** Returns whether the client is in at least one of the states. */
  has(state: number): boolean {
    return (this.state & state) !== 0;
  }

  /** The name of the client's ACL user. */
  get user(): Bytes {
    return this.account.name;
  }
}
