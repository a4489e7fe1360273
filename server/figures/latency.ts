/** How long commands take: a histogram for each, in buckets two digits wide, and the spikes that LATENCY keeps. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Values are kept in nanoseconds, from 1 to a second. */
const LONGEST = 1_000_000_000;
/** So many buckets between a power of two and the next. */
const HALF = 128;
/** The first step of LATENCY HISTOGRAM, about a microsecond. */
const FIRST_STEP = 1024;

/** The greatest value that shares a bucket with this one. */
function bucketEnd(value: number): number {
  if (value < 2 * HALF) return value;
  const width = 2 ** (Math.floor(Math.log2(value)) - 7);
  return Math.floor(value / width) * width + width - 1;
}

/** Durations of one command. */
export class Histogram {
  /** How many durations were measured; the others are taken to be like these. */
  measured = 0;
  /** The sum of what was measured, in microseconds. */
  micros = 0;
  readonly #buckets = new Map<number, number>();

  add(micros: number): void {
    this.measured++;
    this.micros += micros;
    const end = bucketEnd(Math.min(LONGEST, Math.max(1, micros * 1000)));
    this.#buckets.set(end, (this.#buckets.get(end) ?? 0) + 1);
  }

  /** The duration in microseconds that so many percent of the calls did not exceed. */
  percentile(percent: number): number {
    const rank = Math.max(1, Math.floor((percent / 100) * this.measured + 0.5));
    let seen = 0;
    let value = 0;
    for (const [end, count] of this.#sorted()) {
      value = end;
      seen += count;
      if (seen >= rank) break;
    }
    return value / 1000;
  }

  /** Microseconds, doubling, each with how many of the calls took no longer; without steps that add none. */
  steps(calls: number): [micros: number, calls: number][] {
    const out: [number, number][] = [];
    const sorted = this.#sorted();
    let [seen, at] = [0, 0];
    for (let step = FIRST_STEP; at < sorted.length; step *= 2) {
      const end = step + step / HALF - 1;
      const before = seen;
      for (; at < sorted.length && sorted[at]![0] <= end; at++) seen += sorted[at]![1];
      if (seen > before) out.push([Math.floor(end / 1000), Math.round((seen * calls) / this.measured)]);
    }
    return out;
  }

  #sorted(): [number, number][] {
    return [...this.#buckets].sort((a, b) => a[0] - b[0]);
  }
}

/** One second in which something took long: the worst of it, in milliseconds. */
export interface Spike {
  readonly second: number;
  millis: number;
}

const SPIKES_MAX = 160;

/** What LATENCY keeps of one kind of event. */
export class SpikeSeries {
  readonly spikes: Spike[] = [];
  /** The worst ever. */
  worst = 0;

  add(second: number, millis: number): void {
    this.worst = Math.max(this.worst, millis);
    const last = this.spikes.at(-1);
    if (last?.second === second) {
      last.millis = Math.max(last.millis, millis);
      return;
    }
    this.spikes.push({ second, millis });
    if (this.spikes.length > SPIKES_MAX) this.spikes.shift();
  }
}

/** The series by the names of their events. */
export type SpikeTable = Map<Bytes, SpikeSeries>;
