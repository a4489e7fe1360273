/** The counters of a node: connections, commands, expiries, and the calls of each command. */
import { asciiLower, type Bytes, type Millis } from '../../protocol/bytes.ts';
import type { ReplyError } from '../../protocol/reply.ts';
import { Histogram } from './latency.ts';

/** How many distinct unknown commands are remembered. */
const UNKNOWN_MAX = 1000;

/** The figures for which a rate per second is reported. */
export type Rated = 'turns' | 'commands' | 'bytesIn' | 'bytesOut' | 'linkBytesIn' | 'linkBytesOut';

/** Rates are computed over at least this time, in milliseconds. */
const RATE_SPAN = 100;

/** The first word of an error, by which errors are counted. */
export function codeOf({ text }: ReplyError): Bytes {
  const blank = text.indexOf(' ');
  return blank < 0 ? 'ERR' : text.slice(0, blank);
}

/** The figures that start at zero, and are reset by CONFIG RESETSTAT. */
class Figures {
  connections = 0;
  rejected = 0;
  /** Bytes received from and sent to connections. */
  bytesIn = 0;
  bytesOut = 0;
  /** The part of them that was received from the primary, or sent to replicas. */
  linkBytesIn = 0;
  linkBytesOut = 0;
  /** The numbers of chunks received and sent. */
  reads = 0;
  writes = 0;
  queryBufferDisconnections = 0;
  outputBufferDisconnections = 0;
  /** Fields of hashes that expired. */
  expiredFields = 0;
  /** The expired keys and fields that the timer removed, not a command that found them. */
  expiredActively = { keys: 0, fields: 0 };
  /** Events that were handled to their end. */
  turns = 0;
  /** Clients that maxmemory-clients disconnected. */
  evictedClients = 0;
  /** Scripts of EVAL that made room for newer ones. */
  evictedScripts = 0;
  /** The values that Redis would have freed in another thread. */
  lazyFreed = 0;
  expired = 0;
  evicted = 0;
  /** How long memory exceeded the limit in total, in milliseconds, without the current period. */
  evictionExceeded = 0;
  /** Full resyncs, accepted partial resyncs, and refused partial resyncs of replicas. */
  syncs = { full: 0, partial: 0, refused: 0 };
  /** Saves and rewrites of the append-only file that were started, and the number of forks among them. */
  saves = 0;
  rewrites = 0;
  forks = 0;
  /** How often Redis would have made a reply buffer smaller or larger. */
  replyBufferShrinks = 0;
  replyBufferExpands = 0;
  /** Internal errors that were answered with an error reply. */
  internalErrors = 0;
  errorReplies = 0;
  /** Errors of commands in the primary's stream. */
  unexpectedErrors = 0;
}

/** The counters of a node. INFO and other commands report them. */
export class Statistics extends Figures {
  /** When a request that looks like HTTP was last logged, in milliseconds since the epoch. */
  probeLoggedAt = -Infinity;
  /** Counts per command, by serial number: calls, refusals and failures. */
  readonly calls: Uint32Array;
  readonly refused: Uint32Array;
  readonly failed: Uint32Array;
  /** The durations of calls, by serial number. */
  readonly times: (Histogram | undefined)[] = [];
  /** The numbers of error replies, by first word. */
  readonly errors = new Map<Bytes, number>();
  /** The numbers of calls of unknown commands, by name in lower case. */
  readonly unknownCommands = new Map<string, number>();

  #ratedAt: Millis;
  #counted: Record<Rated, number> = {
    turns: 0,
    commands: 0,
    bytesIn: 0,
    bytesOut: 0,
    linkBytesIn: 0,
    linkBytesOut: 0,
  };
  #rates: Record<Rated, number> = this.#counted;

  constructor(commands: number, now: Millis) {
    super();
    this.#ratedAt = now;
    this.calls = new Uint32Array(commands);
    this.refused = new Uint32Array(commands);
    this.failed = new Uint32Array(commands);
  }

  /** The number of calls of all commands, including those of scripts and transactions. */
  get commands(): number {
    let sum = 0;
    for (const calls of this.calls) sum += calls;
    return sum;
  }

  /** Returns rates per second since the last computation. */
  rates(now: Millis): Readonly<Record<Rated, number>> {
    const millis = now - this.#ratedAt;
    if (millis < RATE_SPAN) return this.#rates;
    const { turns, commands, bytesIn, bytesOut, linkBytesIn, linkBytesOut } = this;
    const counted = { turns, commands, bytesIn, bytesOut, linkBytesIn, linkBytesOut };
    const before = this.#counted;
    const rate = (what: Rated): number => (Math.max(0, counted[what] - before[what]) * 1000) / millis;
    this.#rates = {
      turns: rate('turns'),
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

  /** Records the duration of a call in microseconds. */
  took(serial: number, micros: number): void {
    let times = this.times[serial];
    if (times === undefined) this.times[serial] = times = new Histogram();
    times.add(micros);
  }

  /** Counts an error reply. */
  error(reply: ReplyError): void {
    this.count(codeOf(reply));
  }

  /** Counts an error reply by its first word. */
  count(code: Bytes): void {
    this.errorReplies++;
    const known = this.errors.get(code);
    if (known !== undefined || this.errors.size < UNKNOWN_MAX) this.errors.set(code, (known ?? 0) + 1);
  }

  /**
   * Counts a call of an unknown command.
   * @param name in any case; for a subcommand, the container's name and its own
   */
  unknown(name: Bytes): void {
    const lower = asciiLower(name).slice(0, 128);
    const known = this.unknownCommands.get(lower);
    if (known !== undefined || this.unknownCommands.size < UNKNOWN_MAX) {
      this.unknownCommands.set(lower, (known ?? 0) + 1);
    }
  }

  /** Resets everything except the list of unknown commands (CONFIG RESETSTAT). */
  reset(): void {
    Object.assign(this, new Figures());
    this.times.length = 0;
    this.errors.clear();
    this.calls.fill(0);
    this.refused.fill(0);
    this.failed.fill(0);
    this.#counted = { turns: 0, commands: 0, bytesIn: 0, bytesOut: 0, linkBytesIn: 0, linkBytesOut: 0 };
  }
}
