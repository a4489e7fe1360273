/** Which keys cost most: HOTKEYS of Redis 8.6 (https://redis.io/docs/latest/commands/hotkeys/). */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { slotOf } from '../../protocol/slot.ts';
import { type Client, SCRIPT } from '../clients/client.ts';
import type { HasHost } from '../ports.ts';
import type { Command } from '../table/command.ts';
import { findKeys } from '../table/info.ts';
import type { Outcome } from '../table/outcome.ts';
import { sizeOf } from './size-logs.ts';
import { lengthOf } from './slot-usage.ts';

/** What keys can cost: microseconds of commands, or bytes of requests and replies. */
export type HotMetric = 'cpu' | 'net';

/** What a session of HOTKEYS measures. */
export interface HotKeysOptions {
  readonly metrics: ReadonlySet<HotMetric>;
  /** How many keys are listed for each metric. */
  readonly count: number;
  /** After how many milliseconds it ends by itself; 0: never. */
  readonly duration: Millis;
  /** One of so many requests is counted for its keys. */
  readonly sample: number;
  /** The slots that were asked for, in ascending order; undefined if none were. */
  readonly slots: readonly number[] | undefined;
}

/** Sums over requests: those whose keys were counted, those of the chosen slots, and all. */
interface Sums {
  sampled: number;
  selected: number;
  all: number;
}

const zero = (): Sums => ({ sampled: 0, selected: 0, all: 0 });

/** The size of a request in bytes, and what the client had been sent before it. */
interface RunningRequest {
  /** In bytes. */
  readonly size: number;
  /** The bytes of output that the client had been sent before. */
  readonly outputBefore: number;
}

/** One session, from HOTKEYS START to HOTKEYS RESET. Redis estimates what many keys cost; here each key is counted. */
export class HotKeys {
  readonly options: HotKeysOptions;
  readonly startedAt: Millis;
  /** What requests with keys cost. */
  readonly sums: Readonly<Record<HotMetric, Sums>> = { cpu: zero(), net: zero() };
  /** The processor time of the process when the session began, in microseconds. */
  readonly processorBefore: { readonly user: number; readonly system: number };
  readonly #host: HasHost['host'];
  readonly #slots: ReadonlySet<number> | undefined;
  readonly #costs: Readonly<Record<HotMetric, Map<Bytes, number>>> = { cpu: new Map(), net: new Map() };
  #stoppedAt: Millis | undefined;
  #asked: RunningRequest | undefined;

  constructor(host: HasHost['host'], options: HotKeysOptions) {
    this.#host = host;
    this.options = options;
    this.#slots = options.slots === undefined ? undefined : new Set(options.slots);
    this.startedAt = host.clock.now();
    this.processorBefore = host.processorTime?.() ?? { user: 0, system: 0 };
  }

  /** True until it is stopped or its time is over. */
  get active(): boolean {
    return this.#stoppedAt === undefined && (this.#end === 0 || this.#host.clock.now() < this.#end);
  }

  /** When its time is over, in milliseconds since the epoch; 0: never. */
  get #end(): Millis {
    return this.options.duration === 0 ? 0 : this.startedAt + this.options.duration;
  }

  /** For how many milliseconds it has counted. */
  get lasted(): Millis {
    const now = this.#stoppedAt ?? this.#host.clock.now();
    return (this.#end === 0 ? now : Math.min(now, this.#end)) - this.startedAt;
  }

  /** Stops counting. Returns false if it had stopped already. */
  stop(): boolean {
    if (!this.active) return false;
    this.#stoppedAt = this.#host.clock.now();
    return true;
  }

  /** The keys that cost most, and what each cost, in pairs. */
  worst(metric: HotMetric): (Bytes | number)[] {
    const sorted = [...this.#costs[metric]].sort(([, a], [, b]) => b - a);
    return sorted.slice(0, this.options.count).flat();
  }

  /** What all keys that are counted cost together. */
  total(metric: HotMetric): number {
    let total = 0;
    for (const cost of this.#costs[metric].values()) total += cost;
    return total;
  }

  /** Called when a client's request starts. */
  begin(client: Client, argv: readonly Bytes[]): void {
    this.#asked = { size: sizeOf(argv), outputBefore: client.output.written };
  }

  /**
   * Called when a command has run: that of the request, or one of its transaction. What a script calls is part of the script.
   * A command that has blocked its client is not counted.
   * @param micros how long it took
   * @param nested true for a command of a transaction
   */
  called(
    client: Client,
    command: Command,
    argv: readonly Bytes[],
    outcome: Outcome,
    micros: number,
    nested: boolean,
  ): void {
    if (client.has(SCRIPT) || client.blocked !== undefined || !this.active) return;
    const found = findKeys(command, argv)?.filter(({ flags }) => !flags.includes('NOT_KEY')) ?? [];
    const [first] = found;
    if (first === undefined) return;
    const { size = 0, outputBefore = 0 } = this.#asked ?? {};
    // As in Redis: what the transaction has been answered so far.
    const before = nested ? client.output.written - outputBefore : 0;
    const costs = { cpu: Math.round(micros), net: size + before + lengthOf(client, outcome) };
    const selected = this.#slots === undefined || this.#slots.has(slotOf(argv[first.at] ?? ''));
    const { sample, metrics } = this.options;
    const sampled = selected && (sample === 1 || this.#host.random() < 1 / sample);
    for (const metric of ['cpu', 'net'] as const) {
      const [sums, cost] = [this.sums[metric], costs[metric]];
      sums.all += cost;
      if (selected) sums.selected += cost;
      if (sampled) sums.sampled += cost;
      if (!sampled || !metrics.has(metric)) continue;
      const share = Math.floor(cost / found.length);
      const known = this.#costs[metric];
      for (const { at } of found) known.set(argv[at] ?? '', (known.get(argv[at] ?? '') ?? 0) + share);
    }
  }
}
