/** Who looks on while commands run: MONITOR, SLOWLOG, LATENCY and the times of commands. One test per call decides whether anybody does. */
import { asciiLower, type Bytes, type Millis } from '../../protocol/bytes.ts';
import { type Client, SCRIPT } from '../clients/client.ts';
import type { Tracking } from '../clients/tracking.ts';
import type { HasHost, HasNow, HasSettings } from '../ports.ts';
import { ADMIN, type Command, READ, SKIP_MONITOR, SKIP_SLOWLOG } from '../table/command.ts';
import { SpikeSeries, type SpikeTable } from './latency.ts';
import { redacted } from './redaction.ts';
import { Slowlog } from './slowlog.ts';
import type { Statistics } from './statistics.ts';

/** One call of each command in so many is timed while nobody needs to know of every one. */
const SAMPLE = 64;

/** The node, as those who watch it see it. */
interface ObservedNode extends HasHost, HasNow, HasSettings {
  readonly commands: ReadonlyMap<Bytes, Command>;
  readonly stats: Statistics;
  readonly tracking: Pick<Tracking, 'active' | 'enterScript' | 'noteRead'>;
}

export class Observer {
  readonly #server: ObservedNode;
  /**
   * A call whose number has none of these bits is looked at: all of them, or one in 64. Administrative commands always
   * are: CONFIG SET may ask for what its own call is the first to be held against.
   */
  mask = SAMPLE - 1;
  /** A unit that took so many milliseconds is looked at afterwards, whether or not it was timed. */
  slow: Millis = Infinity;
  // The request under way, until it is known how long it took.
  #pending: readonly Bytes[] | undefined;
  #client: Client | undefined;
  readonly monitors = new Set<Client>();
  readonly slowlog = new Slowlog();
  readonly spikes: SpikeTable = new Map();

  constructor(server: ObservedNode) {
    this.#server = server;
  }

  /** Follows the settings, and who listens. */
  configure(): void {
    const { settings, tracking } = this.#server;
    const threshold = settings['slowlog-log-slower-than'];
    const everything =
      this.monitors.size > 0 ||
      tracking.active ||
      (threshold >= 0 && threshold < 1000) ||
      settings['latency-monitor-threshold'] > 0;
    this.mask = everything ? 0 : SAMPLE - 1;
    this.slow = threshold >= 1000 ? Math.ceil(threshold / 1000) : Infinity;
    this.slowlog.limit = settings['slowlog-max-len'];
  }

  /** A looked-at call begins; its start, in microseconds. Scripts are shown to monitors before what they call. */
  begin(client: Client, command: Command, argv: readonly Bytes[]): number {
    if (this.#server.tracking.active && command.group === 'scripting') {
      this.#server.tracking.enterScript(command, argv);
    }
    if (this.monitors.size > 0 && (command.bits & SKIP_MONITOR) !== 0 && command.group === 'scripting') {
      this.#show(client, command, argv);
    }
    return this.#server.host.clock.micros();
  }

  /** A looked-at call has ended. */
  end(client: Client, command: Command, argv: Bytes[], began: number): void {
    const server = this.#server;
    if (!client.has(SCRIPT)) this.#pending = undefined;
    // It is asleep: its time is noted when it wakes up.
    if (command.name === 'debug' && client.blocked !== undefined) return;
    this.record(client, command, argv, server.host.clock.micros() - began);
    if (this.monitors.size > 0 && (command.bits & (SKIP_MONITOR | ADMIN)) === 0) {
      if (!client.has(SCRIPT)) client.output.reserve(); // A script's own reply comes after what it is seen to do.
      this.#show(client, command, argv);
    }
    // A script's keys are remembered where it reads them.
    if (server.tracking.active && (command.bits & READ) !== 0 && command.group !== 'scripting')
      server.tracking.noteRead(client, command, argv);
  }

  /** Notes that a command took so many microseconds. */
  record(client: Client, command: Command, argv: readonly Bytes[], micros: number): void {
    const { stats, settings, host } = this.#server;
    stats.took(command.serial, micros);
    const threshold = settings['slowlog-log-slower-than'];
    if (threshold >= 0 && micros >= threshold && (command.bits & SKIP_SLOWLOG) === 0) {
      const [address, name] = client.has(SCRIPT)
        ? ['?:0', '']
        : [client.connection?.remote ?? '', client.name];
      const second = Math.floor(host.clock.now() / 1000);
      this.slowlog.add({ second, micros, argv: redacted(command, argv), address, name });
    }
    if (settings['latency-monitor-threshold'] > 0) {
      this.spike(command.spec.flags.includes('fast') ? 'fast-command' : 'command', micros / 1000);
    }
  }

  /** Notes that something took so many milliseconds, where that is beyond latency-monitor-threshold. */
  spike(event: Bytes, millis: number): void {
    const { settings, host } = this.#server;
    const threshold = settings['latency-monitor-threshold'];
    if (threshold === 0 || millis < threshold) return;
    let series = this.spikes.get(event);
    if (series === undefined) this.spikes.set(event, (series = new SpikeSeries()));
    series.add(Math.floor(host.clock.now() / 1000), Math.floor(millis));
  }

  /** A request begins; should it take its time, it is known which one that was. */
  note(client: Client, argv: readonly Bytes[]): void {
    this.#pending = argv;
    this.#client = client;
  }

  /** A unit has ended, and it took its time. The clock's milliseconds are all that is known of it. */
  suspect(now: Millis): void {
    const [argv, client] = [this.#pending, this.#client];
    this.#pending = undefined;
    if (argv === undefined || client === undefined || client.blocked !== undefined) return;
    const command = requested(this.#server, argv);
    if (command !== undefined) this.record(client, command, argv, (now - this.#server.now) * 1000);
  }

  /** A batch of requests has been carried out: what follows is idle time. */
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

  /** The client has gone or was reset. */
  forget(client: Client): void {
    if (this.monitors.delete(client)) this.configure();
  }

  #show(client: Client, command: Command, argv: readonly Bytes[]): void {
    const micros = this.#server.host.clock.micros();
    const time = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
    const from = client.has(SCRIPT) ? 'lua' : (client.connection?.remote ?? '');
    const words = redacted(command, argv).map(quoted).join(' ');
    const line = `+${time} [${client.db.index} ${from}] ${words}\r\n`;
    for (const monitor of this.monitors) monitor.output.write(line);
  }
}

/** The command that a request, which has run, names. */
function requested({ commands }: ObservedNode, argv: readonly Bytes[]): Command | undefined {
  const command = commands.get(asciiLower(argv[0] ?? ''));
  return command?.subcommands?.get(asciiLower(argv[1] ?? '')) ?? command;
}

const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
};

function quoted(word: Bytes): Bytes {
  let out = '"';
  for (const letter of word) {
    const code = letter.charCodeAt(0);
    const plain = code >= 32 && code < 127 ? letter : `\\x${code.toString(16).padStart(2, '0')}`;
    out += ESCAPES[letter] ?? plain;
  }
  return `${out}"`;
}
