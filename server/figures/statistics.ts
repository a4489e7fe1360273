/** What a node counts: connections, commands, expiries, and every command's calls. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { ReplyError } from '../../protocol/reply.ts';
import { Histogram } from './latency.ts';

/** Distinct unknown requests that are remembered. */
const UNKNOWN_MAX = 1000;

/** What is counted by the second. */
export type Rated = 'commands' | 'bytesIn' | 'bytesOut' | 'linkBytesIn' | 'linkBytesOut';

/** Rates are those since the last look at them that was so long ago, in milliseconds. */
const RATE_SPAN = 100;

/** The figures that begin at zero, and do so again after CONFIG RESETSTAT. */
class Figures {
  connections = 0;
  rejected = 0;
  /** Bytes that came from connections and went to them. */
  bytesIn = 0;
  bytesOut = 0;
  /** Bytes among them that came from our primary, and that went to our replicas. */
  linkBytesIn = 0;
  linkBytesOut = 0;
  /** Chunks that came, and that were sent. */
  reads = 0;
  writes = 0;
  queryBufferDisconnections = 0;
  /** Clients that were cut off for maxmemory-clients. */
  evictedClients = 0;
  expired = 0;
  evicted = 0;
  /** How long memory was above maxmemory in all, in milliseconds; without the time under way. */
  evictionExceeded = 0;
  /** Replicas that were sent the whole dataset, that went on where they were, and that could not. */
  syncs = { full: 0, partial: 0, refused: 0 };
  /** Saves and rewrites of the append-only file that were begun, and those among them in the background. */
  saves = 0;
  rewrites = 0;
  forks = 0;
  /** Mistakes of ours that were answered as errors. */
  internalErrors = 0;
  errorReplies = 0;
  /** Errors that commands of our primary's stream ran into. */
  unexpectedErrors = 0;
}

export class Statistics extends Figures {
  /** When a request that looks like HTTP was last logged. */
  probeLoggedAt = -Infinity;
  /** Per command, by serial: calls, refusals and failures. */
  readonly calls: Uint32Array;
  readonly refused: Uint32Array;
  readonly failed: Uint32Array;
  /** How long calls took, by serial. */
  readonly times: (Histogram | undefined)[] = [];
  /** Error replies by their first word. */
  readonly errors = new Map<Bytes, number>();
  /** Requests that named no command of ours, by their first words. */
  readonly unknownCommands = new Map<string, number>();

  #ratedAt: Millis;
  #counted: Record<Rated, number> = { commands: 0, bytesIn: 0, bytesOut: 0, linkBytesIn: 0, linkBytesOut: 0 };
  #rates: Record<Rated, number> = this.#counted;

  constructor(commands: number, now: Millis) {
    super();
    this.#ratedAt = now;
    this.calls = new Uint32Array(commands);
    this.refused = new Uint32Array(commands);
    this.failed = new Uint32Array(commands);
  }

  /** The calls of all commands, those of scripts and transactions too. */
  get commands(): number {
    return this.calls.reduce((sum, calls) => sum + calls, 0);
  }

  /** What has been counted in a second, on average since the last look. */
  rates(now: Millis): Readonly<Record<Rated, number>> {
    const millis = now - this.#ratedAt;
    if (millis < RATE_SPAN) return this.#rates;
    const { commands, bytesIn, bytesOut, linkBytesIn, linkBytesOut } = this;
    const counted = { commands, bytesIn, bytesOut, linkBytesIn, linkBytesOut };
    const before = this.#counted;
    const rate = (what: Rated): number => (Math.max(0, counted[what] - before[what]) * 1000) / millis;
    this.#rates = {
      commands: rate('commands'),
      bytesIn: rate('bytesIn'),
      bytesOut: rate('bytesOut'),
      linkBytesIn: rate('linkBytesIn'),
      linkBytesOut: rate('linkBytesOut'),
    };
    this.#ratedAt = now;
    this.#counted = counted;
    return this.#rates;
  }

  /** Notes that a call took so many microseconds. */
  took(serial: number, micros: number): void {
    let times = this.times[serial];
    if (times === undefined) this.times[serial] = times = new Histogram();
    times.add(micros);
  }

  /** Counts an error reply. */
  error({ text }: ReplyError): void {
    const blank = text.indexOf(' ');
    const code = blank < 0 ? 'ERR' : text.slice(0, blank);
    this.errorReplies++;
    const known = this.errors.get(code);
    if (known !== undefined || this.errors.size < UNKNOWN_MAX) this.errors.set(code, (known ?? 0) + 1);
  }

  /** Counts a request for a command that does not exist. */
  unknown(argv: readonly Bytes[]): void {
    const words = argv.slice(0, 2).join(' ').slice(0, 128);
    const known = this.unknownCommands.get(words);
    if (known !== undefined || this.unknownCommands.size < UNKNOWN_MAX) {
      this.unknownCommands.set(words, (known ?? 0) + 1);
    }
  }

  /** Sets everything but the list of unknown commands to zero (CONFIG RESETSTAT). */
  reset(): void {
    Object.assign(this, new Figures());
    this.times.length = 0;
    this.errors.clear();
    this.calls.fill(0);
    this.refused.fill(0);
    this.failed.fill(0);
    this.#counted = { commands: 0, bytesIn: 0, bytesOut: 0, linkBytesIn: 0, linkBytesOut: 0 };
  }
}
