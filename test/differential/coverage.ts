/** Counts what generated programs reached: how often each command was sent, alone and inside others, and its replies. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { type RawReply, readReply, replyEnd } from '../support/reply-text.ts';
import type { Grammar } from './requests.ts';
import { callsOf, gathers } from './scripts.ts';

/** Where a request was carried out. */
type Setting = 'plain' | 'transaction' | 'script';

interface Count {
  sent: number;
  inTransaction: number;
  inScript: number;
  /** Answers that are no errors. */
  fine: number;
  /** Answers that say something: neither an error nor nil, 0 or empty. */
  telling: number;
  readonly errors: Set<string>;
}

function nameOf(argv: readonly Bytes[], containers: ReadonlySet<string>): string {
  const name = asciiLower(argv[0] ?? '');
  return containers.has(name) ? `${name}|${asciiLower(argv[1] ?? '')}` : name;
}

function isTelling([, value]: RawReply): boolean {
  if (value === null || value === undefined) return false;
  return Array.isArray(value) ? value.length > 0 : value !== '' && value !== '0';
}

export class Coverage {
  readonly #counts: Map<string, Count>;
  readonly #containers: ReadonlySet<string>;

  constructor({ generated }: Grammar) {
    this.#counts = new Map(generated.map((name) => [name, fresh()]));
    this.#containers = new Set(
      generated.flatMap((name) => (name.includes('|') ? [name.slice(0, name.indexOf('|'))] : [])),
    );
  }

  readonly #tallies = new Map<string, number>();

  /** Counts redis-server's reply to a request; the reply of a transaction or script also counts the requests `inside`. */
  answered(argv: readonly Bytes[], answer: Bytes, inside: readonly (readonly Bytes[])[]): void {
    if (answer === '' || answer === '+QUEUED\r\n' || replyEnd(answer, 0) !== answer.length) return;
    const reply = readReply(answer);
    this.#note(argv, reply, 'plain');
    const [marker, list] = reply;
    if (marker === '*' && Array.isArray(list)) {
      for (const [i, each] of inside.entries()) {
        const element = list[i] as RawReply | undefined;
        if (element !== undefined) this.#note(each, element, 'transaction');
      }
    }
  }

  #inScript(argv: readonly Bytes[], reply: RawReply): void {
    const calls = callsOf(argv);
    if (calls === undefined) return;
    const list = Array.isArray(reply[1]) ? (reply[1] as readonly RawReply[]) : [];
    for (const [i, call] of calls.entries()) {
      const element = gathers(argv) ? list[i] : reply;
      if (element !== undefined) this.#note(call, element, 'script');
    }
  }

  #note(argv: readonly Bytes[], reply: RawReply, setting: Setting): void {
    this.#inScript(argv, reply);
    if (asciiLower(argv[0] ?? '') === 'exec' && reply[1] === null)
      this.#tally('transactions that WATCH stopped');
    const count = this.#counts.get(nameOf(argv, this.#containers));
    if (count === undefined) return;
    count.sent++;
    if (setting === 'transaction') count.inTransaction++;
    if (setting === 'script') count.inScript++;
    if (reply[0] === '-') count.errors.add(String(reply[1]).slice(0, 40));
    else {
      count.fine++;
      if (isTelling(reply)) count.telling++;
    }
  }

  /** Notes a request before it is sent, and whether it then waited. */
  sent(argv: readonly Bytes[], protocol: 2 | 3, blocked: boolean): void {
    this.#tally(`requests over RESP${protocol}`);
    if (blocked) this.#tally('requests that waited');
    if (argv.some((word) => /[\0-\x08\x80-\xff]/.test(word))) this.#tally('requests with binary words');
    if (argv.some((word) => /^-?\d{16,20}$/.test(word))) this.#tally('requests with numbers beyond 2^53');
  }

  /** Counts the messages that a request caused besides its reply. */
  brought(where: string, items: readonly Bytes[]): void {
    for (const item of items) {
      if (where === 'events') {
        const [, name] = /__keyevent@\d+__:([a-z_-]+)\r\n/.exec(item) ?? [];
        if (name !== undefined) this.#tally(`event ${name}`);
      } else if (where === 'stream') this.#tally(`effect ${asciiLower(item.split('\r\n')[2] ?? '')}`);
      else if (/^[*>]\d\r\n\$\d+\r\n[ps]?message\r\n/.test(item)) this.#tally('messages received');
    }
  }

  /** What was reached besides commands, the most frequent first. */
  tallies(): string {
    return [...this.#tallies]
      .sort(([, a], [, b]) => b - a)
      .map(([what, count]) => `${String(count).padStart(9)}  ${what}`)
      .join('\n');
  }

  #tally(what: string): void {
    this.#tallies.set(what, (this.#tallies.get(what) ?? 0) + 1);
  }

  /** Commands that were never answered other than by errors. */
  unreached(): string[] {
    return [...this.#counts].filter(([, { fine }]) => fine === 0).map(([name]) => name);
  }

  /** One line for each command. */
  table(): string {
    const rows = [...this.#counts].map(([name, count]) =>
      [
        name.padEnd(26),
        ...[
          count.sent,
          count.inTransaction,
          count.inScript,
          count.fine,
          count.telling,
          count.errors.size,
        ].map((figure) => String(figure).padStart(11)),
      ].join(''),
    );
    const head = ['sent', 'in MULTI', 'in Lua', 'no error', 'telling', 'error texts'];
    return [`${'command'.padEnd(26)}${head.map((word) => word.padStart(11)).join('')}`, ...rows].join('\n');
  }
}

function fresh(): Count {
  return { sent: 0, inTransaction: 0, inScript: 0, fine: 0, telling: 0, errors: new Set() };
}
