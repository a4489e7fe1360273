/** How long commands take: a histogram for each command, and the spikes that LATENCY reports. */
import type { Bytes } from '../../protocol/bytes.ts';

/** In nanoseconds: values are kept from 1 to one second. */
const LONGEST = 1_000_000_000;
/** The number of buckets between two powers of two. */
const HALF = 128;
/** The first step of LATENCY HISTOGRAM in nanoseconds, about a microsecond. */
const FIRST_STEP = 1024;

/** Returns the largest value in the same bucket. */
function bucketEnd(value: number): number {
  if (value < 2 * HALF) return value;
  const width = 2 ** (Math.floor(Math.log2(value)) - 7);
  return Math.floor(value / width) * width + width - 1;
}

/** The durations of one command. */
export class Histogram {
  /** The number of measured durations. Calls that were not measured are assumed to be similar. */
  measured = 0;
  /** The sum of the measured durations, in microseconds. */
  micros = 0;
  /** How many durations are in each bucket, by its end. */
  readonly #buckets = new Map<number, number>();
  /** The ends in ascending order; undefined after a new one has come. INFO asks for them three times for each command. */
  #ends: number[] | undefined;

  /** Adds a duration in microseconds. */
  add(micros: number): void {
    this.measured++;
    this.micros += micros;
    const end = bucketEnd(Math.min(LONGEST, Math.max(1, micros * 1000)));
    const before = this.#buckets.get(end);
    if (before === undefined) this.#ends = undefined;
    this.#buckets.set(end, (before ?? 0) + 1);
  }

  /** Returns the duration in microseconds that this percentage of the calls did not exceed. */
  percentile(percent: number): number {
    const rank = Math.max(1, Math.floor((percent / 100) * this.measured + 0.5));
    let seen = 0;
    let value = 0;
    for (const end of this.#sorted()) {
      value = end;
      seen += this.#buckets.get(end)!;
      if (seen >= rank) break;
    }
    return value / 1000;
  }

  /**
   * Returns LATENCY HISTOGRAM's steps: durations that double, in microseconds, each with the number of calls that took
   * no longer. Steps that add no calls are left out.
   */
  steps(calls: number): [micros: number, calls: number][] {
    const out: [number, number][] = [];
    const sorted = this.#sorted();
    let [seen, at] = [0, 0];
    for (let step = FIRST_STEP; at < sorted.length; step *= 2) {
      const end = step + step / HALF - 1;
      const before = seen;
      for (; at < sorted.length && sorted[at]! <= end; at++) seen += this.#buckets.get(sorted[at]!)!;
      if (seen > before) out.push([Math.floor(end / 1000), Math.round((seen * calls) / this.measured)]);
    }
    return out;
  }

  #sorted(): readonly number[] {
    this.#ends ??= [...this.#buckets.keys()].sort((a, b) => a - b);
    return this.#ends;
  }
}

/** The worst latency within one second, in milliseconds. */
export interface Spike {
  readonly second: number;
  millis: number;
}

const SPIKES_MAX = 160;

/**
 * The spikes of one kind of event
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency-monitor/).
 */
export class SpikeSeries {
  readonly spikes: Spike[] = [];
  /** The worst latency ever, in milliseconds. */
  worst = 0;
  /** All latencies together, in milliseconds, and their number. */
  total = 0;
  count = 0;

  /** Adds a latency in milliseconds that occurred in a second since the epoch. */
  add(second: number, millis: number): void {
    this.worst = Math.max(this.worst, millis);
    this.total += millis;
    this.count++;
    const last = this.spikes.at(-1);
    if (last?.second === second) {
      last.millis = Math.max(last.millis, millis);
      return;
    }
    this.spikes.push({ second, millis });
    if (this.spikes.length > SPIKES_MAX) this.spikes.shift();
  }
}

/** The series of spikes, by event name. */
export type SpikeTable = Map<Bytes, SpikeSeries>;
