/** What nodes on both clocks have in common: a server whose writes are logged, and which is up or down. */
import { checkFlag, checkNames } from '../../base/options.ts';
import { fromText } from '../../protocol/bytes.ts';
import { MapReply, ReplyError } from '../../protocol/reply.ts';
import { Client } from '../../server/clients/client.ts';
import { GATE_QUORUM } from '../../server/gates.ts';
import type { Server } from '../../server/server.ts';
import { checkWords, resolve } from '../../server/table/resolve.ts';
import type { VirtualDisk } from './disk.ts';
import { checkKeep, Journal, type KeepData } from './journal.ts';
import type { Logged } from './losses.ts';
import { holdersIn, type Write, WriteLog } from './write-log.ts';

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
export abstract class NodeWithLog {
  /** The name of the node, such as redis-1. */
  readonly name: string;
  /** @internal The current process; after a crash, the one that died. */
  abstract server: Server;
  /** @internal */
  protected running = true;
  /** Replicas that must have a write before it is answered. */
  readonly #writeQuorum: number;
  /** @internal Called when the node was told to follow a primary, or to be one. */
  onRoleChanged: (role: 'primary' | 'replica') => void = () => {};
  /** @internal Called when a new process, with the data that was kept, has taken the place of the one that died. */
  onRestart: (dead: Logged) => void = () => {};
  #log = new WriteLog();

  /** @internal */
  constructor(name: string, writeQuorum: number) {
    this.name = name;
    this.#writeQuorum = writeQuorum;
  }

  /** @internal Ends the process. */
  abstract crash(options: CrashOptions): unknown;

  /** True between `pause` and `resume`. */
  abstract get paused(): boolean;

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.running;
  }

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
    if (command instanceof ReplyError) throw command;
    const { dirty } = server.world;
    const reply = server.unit(() => command.run(new Client(server, 0, undefined), argv));
    // Otherwise nothing waits to be sent, and INFO counts the events of a node.
    if (server.world.dirty !== dirty) server.settle();
    if (reply instanceof ReplyError) throw reply;
    return reply instanceof MapReply ? reply.items : reply;
  }

  /** @internal The node has executed a write as a primary. */
  protected wrote(_write: Write): void {}

  /** @internal A process has begun, with the data that was kept. @param _kept the holders by their keys */
  protected recovered(_kept: ReadonlyMap<string, string>): void {}

  /** @internal Loads the disk's data into the new process' server, and logs its replication stream from now on. */
  protected recover(server: Server, disk: VirtualDisk): Journal {
    server.writeQuorum = this.#writeQuorum;
    server.gate(GATE_QUORUM, this.#writeQuorum > 0);
    const journal = new Journal(server, disk);
    this.recovered(holdersIn(server));
    this.#log = new WriteLog();
    const wrote = (write: Write): void => this.wrote(write);
    this.#log.onWrite = wrote;
    this.#log.watch(server);
    server.replication.observe({ roleChanged: (role) => this.onRoleChanged(role) });
    // A client's SHUTDOWN ends the process. What it saved is there after the restart. (A variable first: decision 32.)
    const shutDown = (): void =>
      void this.crash({ keep: server.dumpFile.changes === 0 ? 'everything' : 'synced' });
    server.onShutdown = shutDown;
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
