/** What nodes on both clocks have in common: a server whose writes are logged, and which is up or down. */
import { checkFlag, checkNames } from '../../embed/options.ts';
import { GATE_QUORUM } from '../../server/gates.ts';
import type { Server } from '../../server/server.ts';
import type { VirtualDisk } from './disk.ts';
import { checkKeep, Journal, type KeepData } from './journal.ts';
import { WriteLog } from './write-log.ts';

/** How a node crashes. */
export interface CrashOptions {
  /** What its disk still has after the restart; default 'nothing'. */
  readonly keep?: KeepData;
  /** The machine is gone, not only the process: connections hang instead of being reset. Default false. */
  readonly silent?: boolean;
}

/** Throws TypeError for a wrong option of a crash. @param where how the error names the options */
export function checkCrash(where: string, options: CrashOptions): void {
  checkNames(options, ['keep', 'silent'], where);
  const { keep, silent } = options;
  if (keep !== undefined) checkKeep(`${where}.keep`, keep);
  if (silent !== undefined) checkFlag(`${where}.silent`, silent);
}

export abstract class AnyNode {
  readonly name: string;
  /** The current process; after a crash, the one that died. */
  abstract server: Server;
  protected running = true;
  /** Replicas that must have a write before it is answered. */
  readonly #writeQuorum: number;
  #log = new WriteLog();

  constructor(name: string, writeQuorum: number) {
    this.name = name;
    this.#writeQuorum = writeQuorum;
  }

  abstract get paused(): boolean;

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.running;
  }

  /** The replication offset. */
  get offset(): number {
    return this.server.replication.offset;
  }

  /** The writes that it took as a primary, with those that it inherited. */
  get log(): WriteLog {
    return this.#log;
  }

  /** Loads what the disk holds into a new process' server, and logs its replication stream from now on. */
  protected recover(server: Server, disk: VirtualDisk): Journal {
    server.writeQuorum = this.#writeQuorum;
    server.gate(GATE_QUORUM, this.#writeQuorum > 0);
    const journal = new Journal(server, disk);
    this.#log = new WriteLog();
    this.#log.watch(server);
    return journal;
  }

  /**
   * Resets the connections of all but the replicas: those that CLIENT KILL TYPE normal and TYPE pubsub end. CLIENT KILL
   * hangs up, and replies under way still arrive; a reset takes them along: what a failover calls unanswered remains so.
   */
  disconnectClients(): void {
    for (const client of [...this.server.clients.values()]) {
      if (!this.server.replication.followers.has(client)) client.abort();
    }
  }
}
