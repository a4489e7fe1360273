/** A Redis node of the lab: a server on a virtual host, which a test can crash, restart, pause, promote and demote. */

import { createNode } from '../../server/index.ts';
import { promote, replicateFrom } from '../../server/replication/role.ts';
import type { ScriptPace } from '../../server/scripts/slow-script.ts';
import type { Caller, Server } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Command } from '../../server/table/command.ts';
import { checkRestart, type DialectOptions, dialectFor, type RestartOptions } from '../failover/dialects.ts';
import type { Journal } from '../failover/journal.ts';
import { AnyNode, type CrashOptions, checkCrash } from '../failover/node.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { Address } from './connector.ts';
import { VirtualHost } from './host.ts';
import type { World } from './world.ts';

/** How a node is run. */
export interface LabNodeOptions extends DialectOptions {
  /** Parameters of every node, by redis.conf's names. */
  readonly settings?: Partial<Settings>;
  /** Extra table entries, such as the LAB command. */
  readonly commands?: readonly Command<Caller>[];
  /**
   * ZooKeeper's way, for contrast: a write is answered only when a majority of the nodes has it, and only a node that
   * has every such write can be promoted. Default false, which is Redis' way: an asynchronous copy, and writes that a
   * failover loses (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/).
   */
  readonly quorum?: boolean;
  /** How long scripts run before others get a turn, and what that costs in virtual time (default 20 ms a slice). */
  readonly scripts?: Partial<ScriptPace>;
}

export class LabNode extends AnyNode {
  readonly port: number;
  readonly host: VirtualHost;
  /** The present process; after a crash, what it was. */
  server: Server;
  #options: LabNodeOptions;
  #journal: Journal;

  constructor(world: World, name: string, port: number, options: LabNodeOptions = {}, writeQuorum = 0) {
    super(name, writeQuorum);
    this.port = port;
    this.#options = options;
    this.host = new VirtualHost(world, name);
    [this.server, this.#journal] = this.#start();
  }

  #start(): [Server, Journal] {
    const { settings, commands = [], scripts } = this.#options;
    const server = createNode(this.host, {
      settings: { ...settings, port: this.port },
      commands,
      ...dialectFor(this.#options, this.name),
      scripts: { millis: 20, ...scripts },
    });
    const journal = this.recover(server, this.host.disk);
    this.host.listen(this.port, (connection) => server.accept(connection));
    return [server, journal];
  }

  get actor(): Actor {
    return this.host.actor;
  }

  /** Its wall clock, which can jump and drift; its expiries and timers follow. */
  get clock(): VirtualClock {
    return this.host.clock;
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.port };
  }

  get paused(): boolean {
    return this.actor.paused;
  }

  /**
   * The process dies, and keeps what `keep` says. Nothing happens when it is down already.
   * Throws TypeError for a wrong option.
   */
  crash(options: CrashOptions = {}): void {
    this.host.world.assertUsable();
    checkCrash('crash', options);
    const { keep = 'nothing', silent = false } = options;
    if (!this.running) return;
    this.running = false;
    this.#journal.crash(keep);
    this.host.crash('everything', silent);
  }

  /**
   * Starts a new process on what the disk has kept, as a primary. Nothing happens when it is up.
   * Throws TypeError for a wrong option.
   */
  restart(options: RestartOptions = {}): void {
    this.host.world.assertUsable();
    checkRestart(options);
    if (this.running) return;
    this.#options = { ...this.#options, ...options };
    this.host.revive();
    [this.server, this.#journal] = this.#start();
    this.running = true;
  }

  /** Stops the process like SIGSTOP: connections stay, nothing is answered, no timer fires. */
  pause(): void {
    this.host.world.assertUsable();
    this.actor.pause();
  }

  /** Everything that came due during the pause happens now, in order. */
  resume(): void {
    this.host.world.assertUsable();
    this.actor.resume();
  }

  /** REPLICAOF NO ONE: takes writes from now on. */
  promote(): void {
    this.host.world.assertUsable();
    this.host.world.trace.note(this.name, 'promote', `at offset ${this.offset}`);
    promote(this.server);
    this.server.settle();
  }

  /** REPLICAOF: follows the other from now on, which replaces the data unless the histories agree. */
  follow(primary: LabNode): void {
    this.host.world.assertUsable();
    this.host.world.trace.note(this.name, 'follow', primary.name);
    replicateFrom(this.server, primary.address.host, primary.port);
    this.server.settle();
  }
}
