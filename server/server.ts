/** A Redis node: it owns databases, clients, time and statistics, and connects the mechanisms with each other. */

import { defaultLimits, type EncodingLimits } from '../keyspace/collections/encoding.ts';
import { Keyspace, type KeyspaceWorld } from '../keyspace/keyspace.ts';
import type { RdbFormat } from '../keyspace/rdb/formats.ts';
import { type MemoryRule, memoryRule } from '../protocol/allowance.ts';
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { DecodeLimits } from '../protocol/limits.ts';
import { ReplyError } from '../protocol/reply.ts';
import { Acl } from './acl/acl.ts';
import { Blocking } from './clients/blocking.ts';
import { type Client, TRACKING } from './clients/client.ts';
import { Connections } from './clients/connections.ts';
import { Idle } from './clients/idle.ts';
import { evictClients } from './clients/memory.ts';
import { Outbox } from './clients/outbox.ts';
import { OutputLimits } from './clients/output-limits.ts';
import { Pausing } from './clients/pausing.ts';
import { PubSub } from './clients/pubsub.ts';
import { Tracking } from './clients/tracking.ts';
import { Waiting } from './clients/waiting.ts';
import { DumpFile } from './data/dump-file.ts';
import { Eviction } from './data/eviction.ts';
import { Expiry } from './data/expiry.ts';
import { Migrations } from './data/migration.ts';
import { Notifications } from './data/notifications.ts';
import { makeWorld } from './data/world.ts';
import type { Dialect, DialectName } from './dialects/index.ts';
import { Effects } from './effects.ts';
import { Observer } from './figures/observer.ts';
import { ReplyBufferRules } from './figures/reply-buffer.ts';
import { Statistics } from './figures/statistics.ts';
import { GATE_CLUSTER } from './gates.ts';
import type { Host } from './host/host.ts';
import type { Membership } from './membership.ts';
import type { Durability, LogLevel } from './ports.ts';
import { INTRODUCTION } from './replication/dial.ts';
import { Replication } from './replication/primary.ts';
import type { ReplicaNode, ReplicaSide } from './replication/replica.ts';
import { Functions } from './scripts/functions.ts';
import { Scripts } from './scripts/scripts.ts';
import { type ScriptPace, SlowScript } from './scripts/slow-script.ts';
import { setLimits } from './settings/encodings.ts';
import type { ConfigFile } from './settings/rewrite.ts';
import { defaultSettings, type Settings } from './settings/settings.ts';
import { type Command, commandCount } from './table/command.ts';
import type { Outcome } from './table/outcome.ts';
import type { Renaming } from './table/rename.ts';
import type { Vocabulary } from './table/vocabulary.ts';
import { ExecutionUnit } from './unit.ts';

/** The options of a new node. */
export interface ServerOptions {
  readonly settings?: Partial<Settings>;
  /** Receives each line of the log, with the node's role at that moment. */
  readonly log?: (level: LogLevel, text: string, role: 'primary' | 'replica') => void;
  /** Additional commands, such as the lab's LAB command. */
  readonly commands?: readonly Command<Caller>[];
  /** What clients are told about commands that other nodes of the program have and this one lacks, by name in lower case. */
  readonly elsewhere?: ReadonlyMap<Bytes, Bytes>;
  /** Commands with other names than their own, in the order in which they are renamed. */
  readonly renamings?: readonly Renaming[];
  /** The server to answer as, and whether to refuse what it does not have. */
  readonly dialect?: DialectName;
  readonly strict?: boolean;
  /** How many bytes one request may allocate; by default a quarter of the heap's limit. */
  readonly requestMemory?: number;
  /** How long scripts run before they yield. */
  readonly scripts?: Partial<ScriptPace>;
}

/** The client that sent a request, typed with the whole node. Every handler receives it. */
export type Caller = Client<Server>;

/** The part of a node that runs requests. It is passed in because the handlers depend on the whole node. */
export interface RequestPath {
  /** Every command by the name that clients use, in lower and upper case. */
  readonly commands: ReadonlyMap<Bytes, Command<Caller>>;
  /** The same by their own names. */
  readonly declared: ReadonlyMap<Bytes, Command<Caller>>;
  /** The commands of every server, by name in lower case. */
  readonly everyCommand: ReadonlyMap<Bytes, Command<Caller>>;
  readonly dialect: Dialect;
  readonly vocabulary: Vocabulary;
  /** Runs a request and queues its reply. */
  execute(server: Server, client: Caller, argv: Bytes[]): void;
  admitAgain(server: Server, client: Caller, argv: Bytes[]): ReplyError | 'later' | undefined;
  /** Runs one command and notes its effect for the replication stream. */
  call(server: Server, client: Caller, command: Command<Caller>, argv: Bytes[]): Outcome;
}

const HEX_DIGITS = '0123456789abcdef';

/** A Redis node. Transports attach connections to it through `connections`. */
export class Server {
  readonly host: Host;
  readonly dialect: Dialect;
  readonly vocabulary: Vocabulary;
  readonly settings: Settings;
  readonly commands: ReadonlyMap<Bytes, Command<Caller>>;
  readonly declared: ReadonlyMap<Bytes, Command<Caller>>;
  readonly everyCommand: ReadonlyMap<Bytes, Command<Caller>>;
  /** What clients are told about commands that this node lacks, and commands that no table lists. */
  readonly elsewhere: Map<Bytes, Bytes | Command<Caller>>;
  readonly clients = new Map<number, Caller>();
  readonly connections: Connections<Server> = new Connections<Server>(this);
  readonly effects = new Effects();
  readonly expiry = new Expiry(this);
  readonly pubsub = new PubSub();
  readonly blocking: Blocking;
  readonly notifications: Notifications;
  readonly pausing = new Pausing(this);
  readonly migrations = new Migrations(this);
  readonly replication: Replication;
  readonly scripts: Scripts;
  readonly functions = new Functions(this);
  readonly idle = new Idle(this);
  readonly outbox = new Outbox();
  readonly outputLimits = new OutputLimits(this);
  readonly replyBuffers = new ReplyBufferRules();
  readonly slowScript: SlowScript;
  readonly waiting = new Waiting(this);
  readonly eviction = new Eviction(this);
  readonly acl: Acl;
  readonly tracking = new Tracking(this);
  readonly observer = new Observer(this);
  /** The primary that this node follows; undefined on a primary. */
  primary: ReplicaSide | undefined;
  readonly world: KeyspaceWorld;
  /** The thresholds of OBJECT ENCODING, shared by every value. */
  readonly encoding: EncodingLimits = defaultLimits();
  /** The format of dump files, full resyncs, DUMP's payloads and DEBUG DIGEST. */
  rdbFormat!: RdbFormat;
  /** The commands with which this node describes itself to its primary. */
  introduction: ReplicaNode['introduction'];
  readonly runId: Bytes;
  /** How INFO and HELLO name what the node is. */
  mode: 'standalone' | 'sentinel' | 'cluster' = 'standalone';
  /** The node's part in a cluster; undefined outside one. */
  cluster: Membership | undefined;
  readonly startedAt: Millis;
  readonly stats: Statistics;
  /** The node's states that require extra checks before a command runs (the GATE_ bits). */
  state = 0;
  /**
   * How many replicas must have a write before it is answered; 0 as in Redis: none. Only the lab's quorum mode sets it.
   */
  writeQuorum = 0;
  /** True once `stop` was called. */
  stopped = false;
  readonly current = new ExecutionUnit(this);
  /** Tests may set it to answer, delay or drop a request; it returns true when it has done so. */
  interceptor: ((client: Caller, argv: Bytes[]) => boolean) | undefined;
  /** Stores the replication stream on a disk; undefined if nothing does. */
  durability: Durability | undefined;
  /** The file that CONFIG REWRITE rewrites; undefined on a server that was started without one. */
  configFile: ConfigFile | undefined;
  /** Returns the ACL file, as seen from the node's directory; undefined on a server that has none. */
  aclFile: (() => ConfigFile) | undefined;
  /** Called when the node must end before it acknowledges what it cannot store. An owner with listeners replaces it. */
  onFatal: () => void = () => this.stop();
  /** Called by SHUTDOWN. An owner with listeners replaces it, and closes the listeners as well. */
  onShutdown: () => void = () => this.stop();
  /** Writes a line to the log. */
  readonly log: (level: LogLevel, text: string) => void;
  readonly dumpFile = new DumpFile(this);
  /** How much memory one request may allocate. */
  readonly memory: MemoryRule;
  readonly #execution: RequestPath;
  readonly #dbs = new Map<number, Keyspace>();
  #unblocked: Caller[] = [];
  #settling = false;

  constructor(
    host: Host,
    execution: RequestPath,
    options: Omit<ServerOptions, 'commands' | 'renamings'> = {},
  ) {
    this.host = host;
    this.memory = memoryRule(options.requestMemory, host.heap);
    this.#execution = execution;
    ({ commands: this.commands, declared: this.declared, everyCommand: this.everyCommand } = execution);
    ({ dialect: this.dialect, vocabulary: this.vocabulary } = execution);
    this.elsewhere = new Map(options.elsewhere);
    this.introduction = [...INTRODUCTION, ...this.dialect.introduction];
    this.settings = { ...defaultSettings(), ...this.dialect.settings, ...options.settings };
    // A variable first: V8 keeps a function that is written as the value of a property longer, and this node with it (decision 32).
    const log = (level: LogLevel, text: string): void => options.log?.(level, text, this.role);
    this.log = log;
    this.acl = new Acl(this);
    this.world = makeWorld(this, host.clock.now());
    this.startedAt = this.world.now;
    this.stats = new Statistics(commandCount(), this.startedAt);
    this.runId = this.randomHex(40);
    this.blocking = new Blocking(this);
    this.notifications = new Notifications(this);
    this.replication = new Replication(this);
    this.scripts = new Scripts(this);
    this.slowScript = new SlowScript(this, options.scripts);
    const review = (): void => this.waiting.review();
    this.replication.onAcknowledged = review;
    this.applySettings();
  }

  /** The node's replication role. */
  get role(): 'primary' | 'replica' {
    return this.primary === undefined ? 'primary' : 'replica';
  }

  /** The time of the current execution unit, in milliseconds since the epoch. */
  get now(): Millis {
    return this.world.now;
  }

  /** The nesting depth of execution units; 0 between requests. */
  get depth(): number {
    return this.current.depth;
  }

  /** The client whose request is running. */
  get running(): Client | undefined {
    return this.current.client;
  }

  /** The databases that something has asked for, in the order of their numbers. All others are empty. */
  get databases(): readonly Keyspace[] {
    return [...this.#dbs.values()].sort((a, b) => a.index - b.index);
  }

  /** The same databases, in any order. */
  get opened(): Iterable<Keyspace> {
    return this.#dbs.values();
  }

  /** How many databases there are. */
  get databaseCount(): number {
    const { settings, dialect } = this;
    const configured = settings['cluster-enabled'] && dialect.cluster.databases === 'as configured';
    return configured ? settings['cluster-databases'] : settings.databases;
  }

  /** Returns a database by number. Throws RangeError if it does not exist. */
  db(index: number): Keyspace {
    const db = this.#dbs.get(index);
    if (db !== undefined) return db;
    const last = this.databaseCount - 1;
    if (!(Number.isInteger(index) && index >= 0 && index <= last))
      throw new RangeError(`database ${index}: must be from 0 to ${last}`);
    const opened = new Keyspace(index, this.world);
    this.#dbs.set(index, opened);
    return opened;
  }

  /** Returns lower-case hexadecimal digits from the host's random numbers. @param isSecret nobody may guess them */
  randomHex(digits: number, isSecret = false): Bytes {
    const { host } = this;
    const draw = (): number => (isSecret ? host.secret?.() : undefined) ?? host.random();
    let out = '';
    while (out.length < digits) out += HEX_DIGITS[Math.floor(draw() * 16)];
    return out;
  }

  /** Updates everything that depends on the settings. Called after every change of a setting. */
  applySettings(): void {
    const { settings, encoding } = this;
    setLimits(encoding, settings, this.dialect);
    for (const client of this.clients.values()) client.limits.maxBulk = settings['proto-max-bulk-len'];
    this.rdbFormat = { ...this.dialect.rdbFormat, triesNewer: settings['rdb-version-check'] === 'relaxed' };
    this.expiry.follow();
    this.acl.configure();
    this.eviction.configure();
    this.observer.configure();
    this.idle.configure();
    this.dumpFile.configure();
    this.outputLimits.configure();
    this.tracking.shorten();
    this.replication.configure();
    this.notifications.configure(settings['notify-keyspace-events']);
    this.listen();
  }

  /** Makes the node part of a cluster. */
  join(membership: Membership): void {
    this.cluster = membership;
    this.mode = 'cluster';
    this.gate(GATE_CLUSTER, true);
  }

  /** Sets or clears one of the node's states. */
  gate(state: number, on: boolean): void {
    this.state = on ? this.state | state : this.state & ~state;
  }

  /** Decides whether keyspaces must report their changes. */
  listen(): void {
    this.world.listening = this.notifications.enabled || this.blocking.count > 0 || this.tracking.listens;
  }

  /** The limits for requests that are being decoded, from `proto-max-bulk-len` and the default user. */
  decodeLimits(): DecodeLimits {
    return {
      maxBulk: this.settings['proto-max-bulk-len'],
      authenticated: this.acl.open,
      checksLines: this.dialect.linesEnd === 'CR LF',
      words: this.dialect.scriptTexts.words,
    };
  }

  /** Notes that a client is no longer blocked: its remaining requests run when the current event is settled. */
  unblocked(client: Caller): void {
    if (client.has(TRACKING) && client.lastCommand !== undefined)
      this.tracking.endCommand(client, client.lastCommand);
    this.#unblocked.push(client);
  }

  // Execution

  /** Runs a request of a client and queues its reply. */
  execute(client: Caller, argv: Bytes[]): void {
    const { usage, hotKeys } = this.observer;
    usage?.begin(client, argv);
    hotKeys?.begin(client, argv);
    this.#execution.execute(this, client, argv);
    usage?.ended(client);
  }

  admitAgain(client: Caller, argv: Bytes[]): ReplyError | 'later' | undefined {
    return this.#execution.admitAgain(this, client, argv);
  }

  /** Runs one command and notes its effect for the replication stream. */
  call(client: Caller, command: Command<Caller>, argv: Bytes[]): Outcome {
    return this.#execution.call(this, client, command, argv);
  }

  /** Runs work as one execution unit: time stands still during it, and its effects are propagated together. */
  unit<T>(work: () => T, client?: Caller): T {
    return this.current.run(work, client);
  }

  /** Ends an event: serves blocked clients, resumes unblocked ones, arms the expiry timer, sends the queued output. */
  settle(): void {
    if (this.#settling || (this.depth > 0 && !this.slowScript.between)) return;
    this.observer.rest();
    this.#settling = true;
    try {
      this.cluster?.settle();
      do {
        if (this.blocking.count > 0) this.blocking.serveReady();
        while (this.#unblocked.length > 0) {
          const resumed = this.#unblocked;
          this.#unblocked = [];
          for (const client of resumed) if (!client.gone) client.drain();
        }
      } while (this.blocking.hasReady && !this.slowScript.active);
      this.cluster?.settle();
      if (this.tracking.active) this.tracking.settle();
      if (this.depth === 0 && !this.stopped) this.expiry.arm();
      if (this.depth === 0) this.waiting.askOnce();
      if (this.settings['maxmemory-clients'] !== '0' && this.depth === 0) evictClients(this);
      this.outbox.flush();
      this.stats.turns++;
    } finally {
      this.#settling = false;
    }
  }

  /** True while a replica has lost its primary and may not serve old data. */
  isStale(): boolean {
    return this.primary?.linkUp === false && !this.settings['replica-serve-stale-data'];
  }

  /** True on a replica whose setting `replica-read-only` is on. */
  readOnlyReplica(): boolean {
    return this.primary !== undefined && this.settings['replica-read-only'];
  }

  /** The node's time in microseconds; frozen inside a script or transaction. */
  micros(): number {
    return this.depth > 1 ? this.world.now * 1000 : this.host.clock.micros();
  }

  /** Handles an internal error: logs and counts it, and returns an error reply. The connection stays open. */
  internalError(command: { readonly fullName: Bytes } | undefined, error: unknown): ReplyError {
    const name = command?.fullName ?? 'unknown';
    this.stats.internalErrors++;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.log('warning', `Internal error in ${name}: ${text}`);
    return new ReplyError(`ERR internal error in '${name}' command`);
  }

  /** Cancels timers, closes connections and accepts no new ones. The databases stay readable. */
  stop(): void {
    this.stopped = true;
    this.cluster?.stop();
    this.idle.stop();
    this.eviction.stop();
    this.durability?.stop();
    this.dumpFile.stop();
    this.expiry.cancel();
    this.slowScript.stop();
    this.migrations.stop();
    this.replication.stop();
    this.primary?.stop();
    for (const client of [...this.clients.values()]) client.abort();
  }
}
