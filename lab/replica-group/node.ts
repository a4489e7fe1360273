/** What nodes on both clocks have in common: a server whose writes are logged, and which is up or down. */
import { checkFlag, checkNames } from '../../base/options.ts';
import { fromText } from '../../protocol/bytes.ts';
import { MapReply, ReplyError, traced } from '../../protocol/reply.ts';
import { Client, REPLICA_LINK } from '../../server/clients/client.ts';
import { GATE_QUORUM } from '../../server/gates.ts';
import { promote } from '../../server/replication/role.ts';
import type { Server } from '../../server/server.ts';
import { checkWords, resolve } from '../../server/table/resolve.ts';
import {
  type Interception,
  Interceptor,
  type Intervention,
  type RequestFilter,
} from '../../start/control/interceptor.ts';
import type { RequestRecording } from '../../start/control/recording.ts';
import { seed } from '../../start/control/seed.ts';
import { type DumpEntry, dump, type Seed } from '../../start/dataset.ts';
import { checkKeep, Journal, type KeepData } from './journal.ts';
import type { Logged } from './losses.ts';
import { type Machine, Party } from './machine.ts';
import { holdersIn, peerOf, type Write, WriteLog } from './write-log.ts';

/** How a node crashes. */
export interface CrashOptions {
  /** What the disk still has after the restart; default 'nothing'. */
  readonly keep?: KeepData;
  /** True when the machine is gone, not just the process: connections hang instead of being reset. Default false. */
  readonly silent?: boolean;
}

/** Throws TypeError for a wrong option of a crash. @param where how the error names the options */
export function checkCrash(where: string, options: CrashOptions): void {
  checkNames(options, ['keep', 'silent'], where);
  const { keep, silent } = options;
  if (keep !== undefined) checkKeep(`${where}.keep`, keep);
  if (silent !== undefined) checkFlag(`${where}.silent`, silent);
}

/** A node on either clock. */
export abstract class NodeWithLog<C = unknown> extends Party<C> {
  /** @internal The current process; after a crash, the one that died. */
  abstract server: Server;
  /** Replicas that must have a write before it is answered. */
  readonly #writeQuorum: number;
  /** @internal Called when the node was told to follow a primary, or to be one. */
  onRoleChanged: (role: 'primary' | 'replica') => void = () => {};
  /** @internal Called when a new process, with the data that was kept, has taken the place of the one that died. */
  onRestart: (dead: Logged) => void = () => {};
  #log = new WriteLog();
  #interceptor: Interceptor | undefined;
  /** @internal The names of the nodes and Sentinels: what they send is no request of a client. */
  fellows: readonly string[] = [];

  /** @internal */
  constructor(machine: Machine<C>, writeQuorum: number) {
    super(machine);
    this.#writeQuorum = writeQuorum;
  }

  /** The port at which clients reach the node. */
  abstract get port(): number;

  /** @internal Ends the process. */
  abstract crash(options: CrashOptions): unknown;

  /** The replication offset in bytes. */
  get offset(): number {
    return this.server.replication.offset;
  }

  /** @internal The writes that the node accepted as a primary, and those that it inherited. */
  get log(): WriteLog {
    return this.#log;
  }

  /**
   * @internal
   * Runs a command past all links, as nobody's client, and without taking time; a paused node runs it as well. Rejects with its
   * error.
   */
  async ask(...words: readonly string[]): Promise<unknown> {
    const { server } = this;
    if (!this.running) throw new Error(`${this.name} is down: it answers nothing`);
    const argv = words.map(fromText);
    const named = resolve(server, argv, false);
    const command = named instanceof ReplyError ? named : checkWords(server, named, argv);
    if (command instanceof ReplyError) throw traced(command);
    const { dirty } = server.world;
    const reply = server.unit(() => command.run(new Client(server, 0, undefined), argv));
    // Otherwise nothing waits to be sent, and INFO counts the events of a node.
    if (server.world.dirty !== dirty) server.settle();
    if (reply instanceof ReplyError) throw traced(reply);
    return reply instanceof MapReply ? reply.items : reply;
  }

  /**
   * Answers, delays or breaks matching requests of clients at this node, also after a restart. Throws TypeError for an unknown
   * filter or intervention.
   */
  intercept(filter: RequestFilter, intervention: Intervention): Interception {
    this.machine.checkOpen();
    return this.interceptor.add(filter, intervention);
  }

  /**
   * Begins to record the requests that clients send to this node, in order; `stop` ends it. What replicas and Sentinels send is
   * not in it.
   */
  requests(): RequestRecording {
    this.machine.checkOpen();
    return this.interceptor.record();
  }

  /**
   * Stores keys, overwriting existing ones, in one step. The node's replicas receive them. Throws TypeError for invalid data and
   * then stores nothing, and Error when the node is down.
   */
  seed(data: Seed): void {
    this.#checkUp('seed()');
    seed(this.server, data);
  }

  /** Every key as plain values, in the form that `seed` accepts. Throws Error when the node is down. */
  dump(): DumpEntry[] {
    this.#checkUp('dump()');
    return dump(this.server);
  }

  #checkUp(call: string): void {
    this.machine.checkOpen();
    if (!this.running) throw new Error(`${call} on ${this.name}, which is down`);
  }

  /** @internal Watches the requests of the node's clients. */
  get interceptor(): Interceptor {
    const fellows = (): readonly string[] => this.fellows;
    this.#interceptor ??= new Interceptor(this.server, {
      node: this.name,
      partyOf: (client) => peerOf(client.connection),
      isInternal: (client) => client.has(REPLICA_LINK) || fellows().includes(peerOf(client.connection) ?? ''),
    });
    return this.#interceptor;
  }

  /** REPLICAOF NO ONE: the node accepts writes from now on. A node of a cluster takes the slots of its primary, without votes. */
  promote(): void {
    this.machine.checkOpen();
    this.machine.note('promote', `at offset ${this.offset}`);
    this.lead();
  }

  /** REPLICAOF, or CLUSTER REPLICATE: the node follows another one. Its data is replaced unless the two histories agree. */
  follow(primary: NodeWithLog<C>): void {
    this.machine.checkOpen();
    this.machine.note('follow', primary.name);
    this.trail(primary);
  }

  /** @internal Makes the server a primary. */
  protected lead(): void {
    promote(this.server);
    this.server.settle();
  }

  /** @internal Makes the server a replica. */
  protected abstract trail(primary: NodeWithLog<C>): void;

  /** @internal Loads the disk's data into the new process' server, and logs its replication stream from now on. */
  protected recover(server: Server): Journal {
    server.writeQuorum = this.#writeQuorum;
    server.gate(GATE_QUORUM, this.#writeQuorum > 0);
    const journal = new Journal(server, this.machine.disk);
    this.machine.restarted(holdersIn(server));
    this.#log = new WriteLog();
    const wrote = (write: Write): void => this.machine.wrote(write);
    this.#log.onWrite = wrote;
    this.#log.watch(server);
    server.replication.observe({ roleChanged: (role) => this.onRoleChanged(role) });
    // A client's SHUTDOWN ends the process. What it saved is there after the restart. (A variable first: decision 32.)
    const shutDown = (): void =>
      void this.crash({ keep: server.dumpFile.changes === 0 ? 'everything' : 'synced' });
    server.onShutdown = shutDown;
    this.#interceptor?.attach(server);
    return journal;
  }

  /**
   * Resets the connections that CLIENT KILL TYPE normal and TYPE pubsub would end, which leaves the replicas' open.
   * CLIENT KILL itself would still deliver replies that are under way. A reset discards them, so that a write that a
   * failover reports as unanswered stays unanswered.
   */
  disconnectClients(): void {
    for (const client of [...this.server.clients.values()]) {
      if (!this.server.replication.followers.has(client)) client.abort();
    }
  }
}
