/** Golden transcripts: conversations with redis-server 7.0, kept in test/golden/*.txt and replayed against us. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { encodeRequest } from '../../protocol/encode.ts';
import { splitInline } from '../../protocol/inline.ts';
import { RawClient } from '../support/raw-client.ts';

/*
 * How a transcript is written:
 *   ## title              a part of its own: an empty server, new connections; one test each
 *   A> SET k "a b\xff"    connection A sends a command; words as redis-cli splits them
 *   A>+ MULTI             the same, kept back until the connection's next command: one write for both
 *   A>% SMEMBERS s        the same; the order of the reply's items does not matter
 *   A< +OK|               what A received since the last step: '|' is CRLF, other odd bytes are escaped
 *   A< (closed)           its connection was closed
 *   A~                    wait until A receives something
 *   A!                    A hangs up
 *   ~ 30                  30 milliseconds pass
 *   ! name value          a setting is changed
 */

/** A server that transcripts can be played on: ours, or redis-server. */
export interface GoldenTarget {
  connect(): Duplex;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until the condition holds. */
  passUntil(condition: () => boolean): Promise<void>;
  configure(name: string, value: string): Promise<void>;
  /** Empties the server. */
  reset(): Promise<void>;
}

/** One part of a transcript. */
export interface GoldenPart {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Splits a transcript into its parts. */
export function goldenParts(text: string): GoldenPart[] {
  const parts: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) parts.push({ title: line.slice(3), lines: [] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts;
}

/** Plays a part and answers its lines as they should read: commands as they are, replies as they came. */
export async function playGolden(part: GoldenPart, target: GoldenTarget): Promise<string[]> {
  await target.reset();
  const stage = new Stage(target);
  const out: string[] = [];
  try {
    for (const line of part.lines) {
      if (/^\w+< /.test(line)) continue;
      out.push(line);
      out.push(...(await stage.play(line)));
    }
  } finally {
    stage.close();
  }
  return out;
}

/** Records every part of a file anew. */
export async function recordGolden(path: string, target: GoldenTarget): Promise<void> {
  const text = readFileSync(path, 'utf8');
  const head = text.slice(0, text.indexOf('## '));
  let recorded = head;
  for (const part of goldenParts(text)) {
    recorded += `## ${part.title}\n${(await playGolden(part, target)).join('\n')}\n`;
  }
  writeFileSync(path, `${recorded.trimEnd()}\n`);
}

/** One connection of a part; requests may be kept back until the next one. */
class Talker {
  readonly #client: RawClient;
  #held = '';
  /** What came and was not collected yet. */
  #fresh = '';

  constructor(stream: Duplex) {
    this.#client = new RawClient(stream);
  }

  get received(): string {
    this.#fresh += this.#client.take();
    return this.#fresh;
  }

  get closed(): boolean {
    return this.#client.ending !== undefined;
  }

  /** Takes what came. */
  collect(): string {
    const bytes = this.received;
    this.#fresh = '';
    return bytes;
  }

  send(words: readonly string[], hold: boolean): void {
    this.#held += encodeRequest(words);
    if (hold) return;
    void this.#client.send(this.#held);
    this.#held = '';
  }

  /** Sends a request and waits for its reply. */
  async ask(...words: [string, ...string[]]): Promise<void> {
    await this.#client.ask(...words);
  }

  hangUp(): void {
    this.#client.close();
  }
}

/** Named connections to one target, and a bystander that tells when the target has come to rest. */
export class Stage {
  readonly #target: GoldenTarget;
  readonly #talkers = new Map<string, Talker>();
  readonly #barrier: Talker;
  readonly #gone = new Set<Talker>();

  constructor(target: GoldenTarget) {
    this.#target = target;
    this.#barrier = new Talker(target.connect());
  }

  close(): void {
    for (const talker of [...this.#talkers.values(), this.#barrier]) talker.hangUp();
  }

  /** Carries out one line and answers the lines that came of it. */
  async play(line: string): Promise<string[]> {
    const [, name = '', sign = '', rest = ''] = /^(\w*)([>~!])([+%]?.*)$/.exec(line) ?? [];
    if (sign === '' || line.startsWith('#')) return [];
    let sorted = false;
    if (sign === '>') {
      sorted = rest.startsWith('%');
      const words = splitInline(rest.replace(/^[+%]/, '').trim());
      if (words === undefined) throw new Error(`unbalanced quotes: ${line}`);
      (await this.#talker(name)).send(words, rest.startsWith('+'));
    } else if (name === '') {
      const [first = '', value = ''] = splitInline(rest.trim()) ?? [];
      if (sign === '~') await this.#target.pass(Number(first));
      else await this.#target.configure(first, value);
    } else if (sign === '~') {
      const talker = await this.#talker(name);
      await this.#target.passUntil(() => talker.received !== '' || talker.closed);
    } else {
      const talker = await this.#talker(name);
      this.#gone.add(talker);
      talker.hangUp();
    }
    await this.#settle();
    return this.#collect(sorted);
  }

  /** Sends a command on a connection and answers what each connection has received since. */
  async say(name: string, words: readonly string[]): Promise<Map<string, string>> {
    (await this.#talker(name)).send(words, false);
    await this.#settle();
    const heard = new Map<string, string>();
    for (const [each, talker] of this.#talkers) {
      const bytes = talker.collect();
      if (bytes !== '') heard.set(each, bytes);
    }
    return heard;
  }

  async #talker(name: string): Promise<Talker> {
    const known = this.#talkers.get(name);
    if (known !== undefined) return known;
    const stream = this.#target.connect();
    const talker = new Talker(stream);
    this.#talkers.set(name, talker);
    if (stream instanceof Socket && stream.connecting) await once(stream, 'connect');
    // By then the server has accepted it, too.
    await this.#settle();
    return talker;
  }

  /** Two round trips of a bystander: by then the server has handled and answered all it was sent. */
  async #settle(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      await this.#barrier.ask('PING');
      await turn();
    }
  }

  #collect(sorted: boolean): string[] {
    const out: string[] = [];
    for (const [name, talker] of this.#talkers) {
      const received = talker.collect();
      const bytes = sorted ? sortItems(received) : received;
      if (bytes !== '') out.push(`${name}< ${steady(escapeOdd(bytes))}`);
      if (talker.closed && !this.#gone.has(talker)) {
        out.push(`${name}< (closed)`);
        this.#gone.add(talker);
      }
    }
    return out;
  }
}

/** Sorts the items of a flat aggregate of bulk strings; anything else stays as it is. */
function sortItems(bytes: string): string {
  const [, head, body] = /^([*~]\d+\r\n)((?:\$\d+\r\n[\s\S]*?\r\n)*)$/.exec(bytes) ?? [];
  if (head === undefined || body === undefined) return bytes;
  return head + [...body.matchAll(/\$\d+\r\n[\s\S]*?\r\n/g)].map(String).sort().join('');
}

const ESCAPED = /\r\n|[\\|\r\n]|[^ -~]/g;

function escapeOdd(bytes: string): string {
  return bytes.replace(ESCAPED, (odd) =>
    odd === '\r\n' ? '|' : odd === '\\' ? '\\\\' : `\\x${odd.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** HELLO's reply without what differs from server to server: version and client number. */
function steady(reply: string): string {
  return reply.replace(/(\|\$7\|version\|)\$\d+\|[^|]+(\|.*\|\$2\|id\|):\d+/, '$1...$2...');
}
