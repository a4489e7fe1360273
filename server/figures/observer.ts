/**
 * Observes commands for MONITOR, SLOWLOG, LATENCY and command statistics. One test per call decides whether it is
 * needed.
 */
import { asciiLower, type Bytes, type Millis } from '../../protocol/bytes.ts';
import { quoted } from '../../protocol/inline.ts';
import type { Reply } from '../../protocol/reply.ts';
import { type Client, SCRIPT } from '../clients/client.ts';
import type { Tracking } from '../clients/tracking.ts';
import type { HasDialect, HasHost, HasNow, HasSettings } from '../ports.ts';
import { ADMIN, type Command, READ, SKIP_MONITOR, SKIP_SLOWLOG } from '../table/command.ts';
import type { HotKeys } from './hot-keys.ts';
import { SpikeSeries, type SpikeTable } from './latency.ts';
import { redacted } from './redaction.ts';
import { SizeLogs } from './size-logs.ts';
import { SlotUsage } from './slot-usage.ts';
import { CommandLog } from './slowlog.ts';
import type { Statistics } from './statistics.ts';

/** One call in this many of each command is timed, unless every call must be. */
const SAMPLE = 64;

/** The node, as its observer sees it. */
interface ObservedNode extends HasDialect, HasHost, HasNow, HasSettings {
  /** The client whose request is running. */
  readonly running: Client | undefined;
  readonly commands: ReadonlyMap<Bytes, Command>;
  readonly stats: Statistics;
  readonly tracking: Pick<Tracking, 'active' | 'enterScript' | 'noteRead'>;
}

/** Sees what requests are answered, and what scripts call. */
export interface ReplyWatcher {
  answered(client: Client, reply: Reply): void;
  /** @param client the client whose request runs the script */
  called(client: Client | undefined, argv: readonly Bytes[], reply: Reply): void;
}

/** Observes the commands of a node. */
export class Observer {
  /** Undefined while nobody records requests. */
  watcher: ReplyWatcher | undefined;
  readonly #server: ObservedNode;
  /**
   * A call is observed if its number has none of these bits: every call, or one in 64. Administrative commands are
   * always observed, because a CONFIG SET that enables the slow log can be its first entry.
   */
  mask = SAMPLE - 1;
  /** An execution unit that took at least this many milliseconds is examined afterwards, even if it was not timed. */
  slow: Millis = Infinity;
  // The current request, until its duration is known.
  #pending: readonly Bytes[] | undefined;
  #client: Client | undefined;
  readonly monitors = new Set<Client>();
  readonly slowlog = new CommandLog();
  readonly sizes: SizeLogs;
  /** The session of HOTKEYS, also after it has stopped; undefined when there is none. */
  hotKeys: HotKeys | undefined;
  /** What requests cost each slot; undefined while `cluster-slot-stats-enabled` is off. */
  usage: SlotUsage | undefined;
  /** The same, kept while it is off. */
  #usage: SlotUsage | undefined;
  readonly spikes: SpikeTable = new Map();

  constructor(server: ObservedNode) {
    this.#server = server;
    this.sizes = new SizeLogs(server);
  }

  /** Applies the settings, and whether there are monitors. */
  configure(): void {
    const { settings, tracking } = this.#server;
    const threshold = settings['slowlog-log-slower-than'];
    const everything =
      this.monitors.size > 0 ||
      tracking.active ||
      settings['cluster-slot-stats-enabled'] ||
      this.hotKeys?.active === true ||
      (threshold >= 0 && threshold < 1000) ||
      settings['latency-monitor-threshold'] > 0;
    this.mask = everything ? 0 : SAMPLE - 1;
    this.slow = threshold >= 1000 ? Math.ceil(threshold / 1000) : Infinity;
    this.slowlog.limit = settings['slowlog-max-len'];
    this.sizes.configure();
    this.usage = settings['cluster-slot-stats-enabled'] ? (this.#usage ??= new SlotUsage()) : undefined;
  }

  /**
   * Called before an observed call. Returns its start in microseconds. Monitors see a script before the commands that
   * it calls.
   */
  begin(client: Client, command: Command, argv: readonly Bytes[]): number {
    if (this.#server.tracking.active && command.group === 'scripting') {
      this.#server.tracking.enterScript(command, argv);
    }
    if (this.monitors.size > 0 && (command.bits & SKIP_MONITOR) !== 0 && command.group === 'scripting') {
      this.#show(client, command, argv);
    }
    return this.#server.host.clock.micros();
  }

  /** Called after an observed call. */
  end(client: Client, command: Command, argv: Bytes[], began: number): void {
    const server = this.#server;
    if (!client.has(SCRIPT)) this.#pending = undefined;
    // The request of a blocked client is recorded when it is served.
    if (client.blocked === undefined) this.record(client, command, argv, server.host.clock.micros() - began);
    if (this.monitors.size > 0 && (command.bits & (SKIP_MONITOR | ADMIN)) === 0) {
      if (!client.has(SCRIPT)) client.output.reserve(); // A script's own reply comes after the commands that monitors see.
      this.#show(client, command, argv);
    }
    // A script's keys are noted when it reads them.
    if (server.tracking.active && (command.bits & READ) !== 0 && command.group !== 'scripting')
      server.tracking.noteRead(client, command, argv);
  }

  /** The time in microseconds, if every call is timed. */
  now(): number | undefined {
    return this.mask === 0 ? this.#server.host.clock.micros() : undefined;
  }

  /**
   * Called when a blocked client was served.
   * @param argv the request that blocked it
   * @param began what `now` returned before
   */
  served(client: Client, argv: readonly Bytes[], began: number | undefined): void {
    const command = client.lastCommand;
    if (began === undefined || command === undefined) return;
    this.record(client, command, argv, this.#server.host.clock.micros() - began);
    const { tracking, dialect } = this.#server;
    if (dialect.serveWaiting === 'as if asked again' && tracking.active && (command.bits & READ) !== 0)
      tracking.noteRead(client, command, argv);
  }

  /** Records the duration of a call in microseconds. */
  record(client: Client, command: Command, argv: readonly Bytes[], micros: number): void {
    const { stats, settings, host } = this.#server;
    stats.took(command.serial, micros);
    const threshold = settings['slowlog-log-slower-than'];
    const { slowInScript } = this.#server.dialect;
    const amount = client.has(SCRIPT) && slowInScript === 'as 0, by the caller' ? 0 : micros;
    if (threshold >= 0 && amount >= threshold && (command.bits & SKIP_SLOWLOG) === 0) {
      const second = Math.floor(host.clock.now() / 1000);
      this.slowlog.add({
        second,
        amount,
        argv: redacted(command, argv, this.#server.dialect.hides),
        ...this.#sender(client),
      });
    }
    if (settings['latency-monitor-threshold'] > 0) {
      this.spike(command.spec.flags.includes('fast') ? 'fast-command' : 'command', micros / 1000);
    }
  }

  /** The address and name that the slow log gives for a client. */
  #sender(client: Client): { address: Bytes; name: Bytes } {
    const { dialect, running } = this.#server;
    if (client.has(SCRIPT) && dialect.slowInScript !== 'as 0, by the caller') {
      return { address: dialect.slowInScript === 'by ?:0' ? '?:0' : '', name: '' };
    }
    const { connection, name } = running ?? client;
    return { address: connection?.remote ?? '', name };
  }

  /** Records a latency in milliseconds, if it reaches latency-monitor-threshold. */
  spike(event: Bytes, millis: number): void {
    const { settings, host } = this.#server;
    const threshold = settings['latency-monitor-threshold'];
    if (threshold === 0 || millis < threshold) return;
    let series = this.spikes.get(event);
    if (series === undefined) this.spikes.set(event, (series = new SpikeSeries()));
    series.add(Math.floor(host.clock.now() / 1000), Math.floor(millis));
  }

  /** Runs work outside the commands. If it takes as long as latency-monitor-threshold, that is a spike of this event. */
  timed<T>(event: 'expire-cycle' | 'eviction-cycle', work: () => T): T {
    if (this.#server.settings['latency-monitor-threshold'] === 0) return work();
    const { clock } = this.#server.host;
    const began = clock.micros();
    const result = work();
    this.spike(event, (clock.micros() - began) / 1000);
    return result;
  }

  /** Called when a request starts, so that a slow unit can be attributed to it. */
  note(client: Client, argv: readonly Bytes[]): void {
    this.#pending = argv;
    this.#client = client;
    if (this.sizes.active) this.sizes.begin(client, argv);
  }

  /** Called when a unit took long. Only the clock's milliseconds are known of it. */
  suspect(now: Millis): void {
    const [argv, client] = [this.#pending, this.#client];
    this.#pending = undefined;
    if (argv === undefined || client === undefined || client.blocked !== undefined) return;
    const command = requested(this.#server, argv);
    if (command !== undefined) this.record(client, command, argv, (now - this.#server.now) * 1000);
  }

  /** Forgets the current request: it was quick, so `rest` need not look whether it was slow. */
  dismiss(): void {
    this.#pending = undefined;
  }

  /** Called when a batch of requests is done: the time that follows is idle. */
  rest(): void {
    if (this.#pending === undefined) return;
    const now = this.#server.host.clock.now();
    if (now - this.#server.now >= this.slow) this.suspect(now);
    this.#pending = undefined;
  }

  /** MONITOR: shows the client every command from now on. */
  watch(client: Client): void {
    this.monitors.add(client);
    this.configure();
  }

  /** Removes a client whose connection is closed or was reset. */
  forget(client: Client): void {
    if (this.monitors.delete(client)) this.configure();
  }

  #show(client: Client, command: Command, argv: readonly Bytes[]): void {
    const micros = this.#server.host.clock.micros();
    const time = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
    const from = client.has(SCRIPT) ? 'lua' : (client.connection?.remote ?? '');
    const words = redacted(command, argv, this.#server.dialect.hides).map(quoted).join(' ');
    const line = `+${time} [${client.db.index} ${from}] ${words}\r\n`;
    for (const monitor of this.monitors) monitor.output.write(line);
  }
}

/** Returns the command of a request that has run. */
function requested({ commands }: ObservedNode, argv: readonly Bytes[]): Command | undefined {
  const command = commands.get(asciiLower(argv[0] ?? ''));
  return command?.subcommands?.get(asciiLower(argv[1] ?? '')) ?? command;
}
