/** Transcripts: requests with the answers, replicated effects and keyspace events of the real redis-server. */

/*
 * One parser and two targets: a recorder against redis-server, a replayer against our own. The lines:
 *
 *     ## a section               all data is removed, the clients are fresh
 *     > SET k "v" EX 10          a request of client a; `b> …` is one of client b
 *     sorted> KEYS *             a request whose reply's items are compared in sorted order
 *     @resp 3                    the protocol of every client from here on
 *     @wait 20                   lets milliseconds pass
 *     < a +OK                    what client a received
 *     ~ SET k v PXAT {now+10s}   what was replicated
 *     ! k set                    an event, with the key's name
 */
import { printReply, type RawReply } from '../support/reply-text.ts';

/** One line of a transcript that does something. */
export type Step =
  | { readonly kind: 'request'; readonly client: string; readonly argv: string[]; readonly sorted: boolean }
  | { readonly kind: 'resp'; readonly protocol: 2 | 3 }
  | { readonly kind: 'wait'; readonly millis: number };

/** One independent part of a transcript: its steps, each with the line it stands on. */
export interface Section {
  readonly name: string;
  readonly steps: readonly { readonly line: string; readonly step: Step }[];
}

/** What a step brought about. */
export interface Outcome {
  readonly replies: readonly { client: string; reply: RawReply }[];
  readonly effects: readonly (readonly string[])[];
  readonly events: readonly { key: string; event: string }[];
  /** The target's clock, in milliseconds. */
  readonly now: number;
}

/** What a transcript is played on. */
export interface Target {
  begin(): Promise<void>;
  perform(step: Step): Promise<Outcome>;
}

const OUTCOME = /^[<~!] /;

/** Reads a transcript's steps; what was recorded is left out. */
export function parseTranscript(text: string): Section[] {
  const sections: { name: string; steps: { line: string; step: Step }[] }[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# ') || OUTCOME.test(line)) continue;
    if (line.startsWith('## ')) sections.push({ name: line.slice(3), steps: [] });
    else sections.at(-1)?.steps.push({ line, step: parseStep(line) });
  }
  return sections;
}

function parseStep(line: string): Step {
  const [, word = '', rest = ''] = /^(?:@?)(\w*)>? ?(.*)$/.exec(line) ?? [];
  if (line.startsWith('@')) {
    return word === 'resp'
      ? { kind: 'resp', protocol: rest === '3' ? 3 : 2 }
      : { kind: 'wait', millis: parseInt(rest, 10) };
  }
  const sorted = word === 'sorted';
  return { kind: 'request', client: sorted || word === '' ? 'a' : word, argv: splitWords(rest), sorted };
}

/** Splits a request as redis-cli does: double quotes with escapes, single quotes, blanks. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|\S+/g)) {
    if (word.startsWith('"')) words.push(unescapeText(word.slice(1, -1)));
    else words.push(word.startsWith("'") ? word.slice(1, -1) : word);
  }
  return words;
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '\0' };

function unescapeText(text: string): string {
  return text.replace(/\\(?:x([0-9a-fA-F]{2})|(.))/g, (_all, hex: string | undefined, other: string) =>
    hex === undefined ? (ESCAPES[other] ?? other) : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** Plays a section and writes down what happened, in a transcript's form. */
export async function play(section: Section, target: Target): Promise<string> {
  const lines = [`## ${section.name}`];
  await target.begin();
  for (const { line, step } of section.steps) {
    lines.push(line);
    const { replies, effects, events, now } = await target.perform(step);
    const { sorted, argv } = step.kind === 'request' ? step : { sorted: false, argv: [] };
    for (const { client, reply } of replies) {
      const text = coarse(printReply(reply, sorted), argv);
      lines.push(`< ${client} ${relative(text, now)}`);
    }
    for (const argv of effects) lines.push(`~ ${relative(argv.map(quote).join(' '), now)}`);
    for (const { key, event } of events) lines.push(`! ${quote(key)} ${event}`);
  }
  return `${lines.join('\n')}\n`;
}

function quote(word: string): string {
  return /^[!-~]+$/.test(word) && !/["'\\]/.test(word) ? word : printReply(['$', word]);
}

/** Distances in time, in tens of seconds: a slow machine must not change what is recorded. */
function tens(millis: number): number {
  return Math.abs(millis) < 5000 ? 0 : Math.ceil(millis / 10_000) * 10;
}

/** Times near the present are written relative to it, so that they are the same in every recording. */
function relative(text: string, now: number): string {
  return text.replace(/\b1[5-9]\d{8,11}\b/g, (digits) => {
    const unit = digits.length === 13 ? 1 : digits.length === 10 ? 1000 : 0;
    const millis = parseInt(digits, 10) * unit - now;
    return unit === 0 || Math.abs(millis) > 1e9 ? digits : `{now+${tens(millis)}s}`;
  });
}

/** The reply to TTL and PTTL, coarsely: what is years ahead was asked for as an absolute time. */
function coarse(text: string, argv: readonly string[]): string {
  const unit = { TTL: 1000, PTTL: 1 }[argv[0] ?? ''] ?? 0;
  if (unit === 0) return text;
  return text.replace(/^:(\d{2,})$/, (_all, digits) => {
    const millis = parseInt(digits, 10) * unit;
    return millis > 1e12 ? ':~years' : `:~${tens(millis)}s`;
  });
}
