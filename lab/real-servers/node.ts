/** A real server as a node of the lab: a process that a test can kill, restart, pause, promote and demote. */

import { badOption } from '../../base/options.ts';
import { type DialectName, dialectNames } from '../../server/dialects/index.ts';
import type { Server } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Redis } from '../ioredis-types.ts';
import { CLOSED } from '../real-clock/lane.ts';
import type { NetworkConnection, RealClockNetwork } from '../real-clock/network.ts';
import { comesTrue } from '../real-clock/wait.ts';
import type { Logged } from '../replica-group/losses.ts';
import { type CrashOptions, checkCrash } from '../replica-group/node.ts';
import type { WriteLog } from '../replica-group/write-log.ts';
import type { IoredisConstructor } from '../virtual/client.ts';
import { fetchStream } from './fetch.ts';
import { dialectOf, fieldsOf, type InfoFields, type Standing, standingOf } from './info.ts';
import { Mirror } from './mirror.ts';
import { argumentsOf } from './options.ts';
import { freePort, ServerProcess } from './program.ts';
import { SeenRequests } from './requests.ts';

/** How long a server may take to start, and a replica to apply what it has received, in milliseconds. */
const PATIENCE = 30_000;

/** How long the lab waits for bytes that a server has sent, before it asks for them on another connection. */
const IN_FLIGHT = 100;

/** With these parameters newer servers send a dataset on a connection of its own. */
const SECOND_CHANNELS = ['repl-rdb-channel', 'dual-channel-replication-enabled'];

/** What the nodes of a set share. */
export interface RealServerSurroundings {
  readonly network: RealClockNetwork;
  readonly ioredis: IoredisConstructor;
  readonly settings: Partial<Settings>;
  /** True for the name of a node. */
  readonly isNode: (name: string) => boolean;
  /** True if the set has one node only: no failover can lose anything. */
  readonly isAlone: boolean;
  /** Does work after all work that was asked for before, whichever node it concerns. */
  readonly inTurn: (work: () => Promise<unknown>) => void;
  /** The port at which a node reaches another one through the lab. */
  readonly portBetween: (from: string, to: string) => Promise<number>;
  /** Further arguments of a node's program, asked for before every start on this port. */
  readonly argumentsFor?: (name: string, port: number) => Promise<readonly string[]>;
  /** The files that a node keeps when it loses its data. */
  readonly keeps?: readonly string[];
}

/** A redis-server or valkey-server behind the lab's links. */
export class RealServerNode {
  /** The name of the node, such as 'redis-1'. */
  readonly name: string;
  /** @internal Called when the node was told to follow a primary, or to be one. */
  onRoleChanged: (role: 'primary' | 'replica') => void = () => {};
  /** @internal Called in a restart: after it if the data is gone, otherwise before it, because the lab does not know what was kept. */
  onRestart: (dead: Logged) => void = () => {};
  readonly #around: RealServerSurroundings;
  readonly #program: ServerProcess;
  readonly #requests = new SeenRequests(() => this.server);
  /** The connections of replicas. */
  readonly #feeds = new Map<NetworkConnection, { readonly streams: boolean }>();
  #mirror: Mirror;
  #control: Redis | undefined;
  #fetches = 0;
  #port = 0;
  #up = false;
  #paused = false;
  #closed = false;
  /** Commands for the process that wait until it is resumed. */
  #later: (() => Promise<unknown>)[] = [];
  #dialect: DialectName = dialectNames[0] as DialectName;

  /** @internal @param path the program */
  constructor(name: string, path: string, around: RealServerSurroundings) {
    this.name = name;
    this.#around = around;
    this.#program = new ServerProcess(path);
    this.#mirror = this.#newMirror();
  }

  #newMirror(): Mirror {
    const mirror = new Mirror(this.#dialect, (effects) => this.#requests.explain(effects));
    mirror.onDataset = () => this.#requests.skipped();
    return mirror;
  }

  /** @internal The requests of clients, as seen on their links. */
  get requests(): SeenRequests {
    return this.#requests;
  }

  /** @internal What the lab knows of the server's data. */
  get mirror(): Mirror {
    return this.#mirror;
  }

  /** @internal The mirror as a server. It serves no clients; query the process with `ask`. */
  get server(): Server {
    return this.#mirror.server;
  }

  /** @internal The writes that the node accepted as a primary, and those that it inherited. */
  get log(): WriteLog {
    return this.#mirror.log;
  }

  /** @internal How often the lab has asked the process by PSYNC. INFO counts these as partial resyncs, or as full ones. */
  get fetches(): number {
    return this.#fetches;
  }

  /** The replication offset up to which the lab has seen the node's stream. */
  get offset(): number {
    return this.#mirror.offset;
  }

  /** The TCP port of the process. Connections that do not come from the lab's clients pass no link. */
  get port(): number {
    return this.#port;
  }

  /** The URL of the process. It does not follow the primary, and passes no link. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** The id of the process; undefined while there is none. */
  get pid(): number | undefined {
    return this.#program.runs ? this.#program.pid : undefined;
  }

  /** The folder with the server's files. */
  get folder(): string {
    return this.#program.folder;
  }

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.#up;
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.#paused;
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /** @internal Starts the process. Rejects with what it printed when it does not come up. */
  async start(): Promise<void> {
    // Its replicas may connect before the first answer to the lab.
    this.#mirror = this.#newMirror();
    for (let attempt = 1; ; attempt++) {
      if (this.#port === 0) this.#port = await freePort();
      const further = (await this.#around.argumentsFor?.(this.name, this.#port)) ?? [];
      this.#program.start([
        ...['--port', String(this.#port), '--bind', '127.0.0.1', '--dir', this.#program.folder],
        ...['--save', '', '--repl-diskless-sync-delay', '0', '--daemonize', 'no'],
        ...argumentsOf(this.#around.settings),
        ...further,
      ]);
      const control = this.#dial();
      const answers = await comesTrue(
        async () => !this.#program.runs || control.status === 'ready',
        PATIENCE,
      );
      if (this.#program.runs && answers) {
        this.#control = control;
        break;
      }
      control.disconnect();
      const { printed } = this.#program;
      await this.#program.kill();
      // Another process may have taken the port in the meantime.
      if (!/already in use/i.test(printed) || attempt === 5) {
        throw new Error(`${this.name} does not start:\n${printed}`);
      }
      this.#port = 0;
    }
    this.#around.network.name(this.#port, this.name);
    const dialect = dialectOf(await this.info('server'));
    if (dialect !== this.#dialect) {
      this.#dialect = dialect;
      this.#mirror = this.#newMirror();
    }
    this.#up = true;
    // The lab reads datasets and streams on one connection. Servers that do not know the parameter do it that way.
    for (const name of SECOND_CHANNELS) await this.ask('CONFIG', 'SET', name, 'no').catch(() => {});
    await this.#readPriority();
  }

  #dial(): Redis {
    const control = new this.#around.ioredis({
      host: '127.0.0.1',
      port: this.#port,
      connectionName: 'lab',
      maxRetriesPerRequest: null,
      retryStrategy: () => 10,
    });
    control.on('error', () => {});
    return control;
  }

  /**
   * Sends a command to the process, on a connection of the lab's own that passes no link. Rejects with the server's
   * error, and when the node is down or paused.
   */
  async ask(...words: readonly string[]): Promise<unknown> {
    if (this.#control === undefined) throw new Error(`${this.name} is down: it answers nothing`);
    if (this.#paused) throw new Error(`${this.name} is paused: it answers nothing`);
    const [name = '', ...rest] = words;
    return this.#control.call(name, ...rest);
  }

  /** @internal The fields of a section of INFO. Rejects as `ask` does. */
  async info(section: string): Promise<InfoFields> {
    return fieldsOf(String(await this.ask('INFO', section)));
  }

  /** @internal Where the process itself stands in replication. Rejects as `ask` does. */
  async standing(): Promise<Standing> {
    return standingOf(await this.info('replication'));
  }

  /**
   * @internal
   * Brings the mirror up to date with the process: reads what is under way, and asks for what passed no link.
   */
  async refresh(): Promise<void> {
    if (!this.#up || this.#paused || this.#around.isAlone) return;
    await this.#readPriority();
    await this.#catchUp();
  }

  /**
   * @internal
   * Finds out what the requests whose replies are held up have written. A server without replicas is asked for its stream;
   * it keeps none before it is asked for the first time.
   */
  async decide(): Promise<void> {
    await this.#requests.decide(async () => {
      if (this.#up && !this.#paused) await this.#catchUp();
    });
  }

  async #catchUp(): Promise<void> {
    const { isReplica, id, secondId, offset } = await this.standing();
    if (isReplica) {
      await this.#settleReplica();
      return;
    }
    if (secondId === this.#mirror.id) this.#mirror.promoted(id);
    const isComplete = (): boolean => this.#mirror.id === id && this.#mirror.offset >= offset;
    // What a replica is sent may be under way.
    if (await comesTrue(isComplete, this.#isFed ? IN_FLIGHT : 0)) return;
    this.#fetches++;
    await fetchStream(this.#port, this.#mirror, isComplete, PATIENCE);
  }

  /** @internal Notes a replica's connection to this node. */
  feed(connection: NetworkConnection, tap: { readonly streams: boolean }): void {
    for (const known of this.#feeds.keys()) if (known.ended) this.#feeds.delete(known);
    this.#feeds.set(connection, tap);
  }

  /** True while this node's stream passes the lab, on its way to a replica. */
  get #isFed(): boolean {
    return [...this.#feeds].some(([connection, { streams }]) => streams && !connection.ended);
  }

  /** Waits until the replica has applied what has reached it. */
  async #settleReplica(): Promise<void> {
    await comesTrue(async () => {
      const { linkUp, offset } = await this.standing();
      return !linkUp || offset >= this.#mirror.offset;
    }, PATIENCE);
  }

  async #readPriority(): Promise<void> {
    const [, priority] = (await this.ask('CONFIG', 'GET', 'replica-priority')) as string[];
    this.server.settings['replica-priority'] = Number(priority);
    // Redis compares run ids when priorities and offsets are equal.
    Object.assign(this.server, { runId: (await this.info('server')).run_id });
  }

  /**
   * Kills the process as `kill -9` does. `keep` decides what its folder has afterwards: 'nothing', or 'everything',
   * for which the server saves its data first. With `silent` its connections hang. Rejects with TypeError for a wrong
   * option.
   */
  async crash(options: CrashOptions = {}): Promise<void> {
    this.#checkOpen();
    checkCrash('crash', options);
    const { keep = 'nothing', silent = false } = options;
    if (keep === 'synced' || typeof keep === 'object') {
      const why = "'nothing' or 'everything': a killed process loses nothing that it has written to a file";
      throw badOption('crash.keep', keep, why);
    }
    if (!this.#up) return;
    // A server sends a reply before the stream. What it has answered must have left it, so that its loss is noticed.
    await this.refresh();
    if (keep === 'everything' && !this.#paused) await this.ask('SAVE');
    if (silent) for (const connection of this.#connections()) connection.silence();
    await this.#end();
    if (keep === 'nothing') this.#program.wipe(this.#around.keeps);
  }

  /** The connections of clients and of other nodes, on either end of which this node is. */
  #connections(): NetworkConnection[] {
    return this.#around.network.connections.filter(({ from, to }) => [from, to].includes(this.name));
  }

  async #end(): Promise<void> {
    this.#up = false;
    this.#paused = false;
    this.#later = [];
    const connections = this.#connections().filter(({ to }) => to === this.name);
    this.#control?.disconnect();
    this.#control = undefined;
    await this.#program.kill();
    // What the process had sent still arrives.
    await comesTrue(() => connections.every(({ ended }) => ended), PATIENCE);
  }

  /** Starts a new process with the files that were kept, as a primary. Does nothing when the node is up. */
  async restart(): Promise<void> {
    this.#checkOpen();
    if (this.#up) return;
    const dead = { server: this.server, log: this.log };
    if (!this.#program.isWiped) this.onRestart(dead);
    await this.start();
    if (this.#program.isWiped) this.onRestart(dead);
  }

  /** Ends the node for good, and removes its folder. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
    await this.#program.remove();
  }

  /** Stops the process by SIGSTOP: connections stay open, and nothing is answered. */
  pause(): void {
    this.#checkOpen();
    if (!this.#up || this.#paused) return;
    this.#paused = true;
    this.#program.pause();
  }

  /** Continues the process by SIGCONT. */
  resume(): void {
    this.#checkOpen();
    if (!this.#paused) return;
    this.#paused = false;
    this.#program.resume();
    for (const work of this.#later.splice(0)) this.#around.inTurn(work);
  }

  /** Does work on the process in turn; later if it is paused, and never if it is down. */
  #inTurn(work: () => Promise<unknown>): void {
    this.#around.inTurn(async () => {
      if (this.#paused) this.#later.push(work);
      else if (this.#up) await work();
    });
  }

  /** REPLICAOF NO ONE, in turn. */
  promote(): void {
    this.#checkOpen();
    this.#inTurn(async () => {
      await this.ask('REPLICAOF', 'NO', 'ONE');
      this.#mirror.promoted((await this.standing()).id);
    });
  }

  /** REPLICAOF, in turn: the node follows another one through the lab's link. */
  follow(primary: RealServerNode): void {
    this.#checkOpen();
    this.#inTurn(async () => {
      // A primary reaches this node here when it hands its role over by FAILOVER.
      const own = await this.#around.portBetween(primary.name, this.name);
      await this.ask('CONFIG', 'SET', 'replica-announce-port', String(own));
      const port = await this.#around.portBetween(this.name, primary.name);
      await this.ask('REPLICAOF', '127.0.0.1', String(port));
    });
  }

  /** Resets the connections of the lab's clients at once, and ends others by CLIENT KILL. */
  disconnectClients(): void {
    for (const connection of this.#connections()) {
      if (connection.to === this.name && !this.#around.isNode(connection.from)) connection.reset();
    }
    this.#inTurn(async () => {
      for (const type of ['normal', 'pubsub']) await this.ask('CLIENT', 'KILL', 'TYPE', type);
    });
  }
}
