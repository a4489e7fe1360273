/** A Redis node of the lab: a server on a virtual host that a test can crash, restart, pause, promote and demote. */

import { checkInteger, checkNames } from '../../base/options.ts';
import { createNode } from '../../server/index.ts';
import { replicateFrom } from '../../server/replication/role.ts';
import type { ScriptPace } from '../../server/scripts/slow-script.ts';
import type { Caller, Server, ServerOptions } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Command } from '../../server/table/command.ts';
import { ownCommands } from '../../start/own/declare.ts';
import type { OwnCommands } from '../../start/own/own-command.ts';
import { checkMillis } from '../checks.ts';
import {
  checkRestart,
  type DialectOptions,
  dialectFor,
  type RestartOptions,
} from '../replica-group/dialects.ts';
import type { Journal } from '../replica-group/journal.ts';
import { type CrashOptions, checkCrash, NodeWithLog } from '../replica-group/node.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { Address } from './connector.ts';
import { VirtualHost } from './host.ts';
import type { World } from './world.ts';

/** The options of a virtual node. */
export interface LabNodeOptions extends DialectOptions {
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** Commands of your own, which every node has: docs/commands-of-your-own.md. */
  readonly commands?: OwnCommands;
  /** @internal Additional commands, such as LAB. */
  readonly labCommands?: readonly Command<Caller>[];
  /**
   * Requires a majority, as ZooKeeper does: a write is answered only when a majority of the nodes has it, and only a
   * node with every such write can be promoted. Default false, as in Redis, whose replicas are asynchronous copies and
   * whose failovers can lose writes (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/).
   */
  readonly quorum?: boolean;
  /**
   * How long scripts run before other clients get a turn, and what that costs in virtual time (default 20 ms per
   * slice).
   */
  readonly scripts?: Partial<ScriptPace>;
}

/** Throws TypeError for a wrong pace of scripts. */
export function checkScripts(scripts: Partial<ScriptPace> = {}): void {
  checkNames(scripts, ['start', 'slice', 'millis'], 'scripts');
  const { start, slice, millis } = scripts;
  if (start !== undefined) checkInteger('scripts.start', start, 1, Number.MAX_SAFE_INTEGER);
  if (slice !== undefined) checkInteger('scripts.slice', slice, 1, Number.MAX_SAFE_INTEGER);
  if (millis !== undefined) checkMillis('scripts.millis', millis);
}

/** A server in a world. */
export class LabNode extends NodeWithLog<VirtualClock> {
  /** The port, in the world. */
  readonly port: number;
  /** @internal The machine that the node runs on. */
  readonly host: VirtualHost;
  /** @internal The current process; after a crash, the one that died. */
  server: Server;
  #options: LabNodeOptions;
  #journal: Journal;

  /** @internal */
  constructor(world: World, name: string, port: number, options: LabNodeOptions = {}, writeQuorum = 0) {
    const host = new VirtualHost(world, name);
    super(host, writeQuorum);
    this.port = port;
    this.#options = options;
    this.host = host;
    [this.server, this.#journal] = this.#start();
  }

  #start(): [Server, Journal] {
    const { settings, commands, labCommands = [], scripts } = this.#options;
    const server = this.create({
      settings: { ...settings, port: this.port },
      commands: [...labCommands, ...ownCommands(commands)],
      ...dialectFor(this.#options, this.name),
      scripts: { millis: 20, ...scripts },
    });
    const journal = this.recover(server);
    this.host.listen(this.port, (connection) => server.connections.accept(connection));
    return [server, journal];
  }

  /** @internal Creates the server of a new process. A node of a cluster creates another. */
  protected create(options: ServerOptions): Server {
    return createNode(this.host, options);
  }

  /** The node's process. */
  get actor(): Actor {
    return this.host.actor;
  }

  /** The address at which clients in the world reach the node. */
  get address(): Address {
    return { host: '127.0.0.1', port: this.port };
  }

  /**
   * Ends the process; the disk keeps what `keep` says. Does nothing when the node is already down. Throws TypeError for
   * a wrong option.
   */
  crash(options: CrashOptions = {}): void {
    this.host.checkOpen();
    checkCrash('crash', options);
    const { keep = 'nothing', silent = false } = options;
    if (!this.running) return;
    this.running = false;
    this.#journal.crash(keep);
    this.host.crash('everything', silent);
  }

  /**
   * Starts a new process with the data that the disk has kept, as a primary. Does nothing when the node is up.
   * Throws TypeError for a wrong option.
   */
  restart(options: RestartOptions = {}): void {
    this.host.checkOpen();
    checkRestart(options);
    if (this.running) return;
    const dead = { server: this.server, log: this.log };
    this.#options = { ...this.#options, ...options };
    this.host.revive();
    [this.server, this.#journal] = this.#start();
    this.running = true;
    this.onRestart(dead);
  }

  /** @internal */
  protected trail(primary: NodeWithLog<VirtualClock>): void {
    replicateFrom(this.server, this.address.host, primary.port);
    this.server.settle();
  }
}
