/** Transcripts: requests with the answers, replicated effects and keyspace events of the real servers. */

/*
 * One parser and two targets: a recorder against a real server, a replayer against our own. The lines:
 *
 *     ## a section               all data is removed, the clients are new
 *     > SET k "v" EX 10          a request of client a; `b> …` is one of client b
 *     sorted> KEYS *             a request whose reply's items are compared in sorted order; also `b sorted> …`
 *     held> MULTI                a request that is sent together with the client's next one; also `b held> …`
 *     awaited> BLPOP k 0.1       a request whose reply is waited for, however long it takes; also `b awaited> …`
 *     @hangup b                  client b closes its connection
 *     @resp 3                    the protocol of every client from here on
 *     @wait 20                   lets milliseconds pass
 *     @config name value         changes a setting of the server, until the section ends
 *     < a +OK                    what client a received
 *     < a (closed)               the server closed its connection
 *     ~ SET k v PXAT {now+10s}   what was replicated
 *     ! k set                    an event, with the key's name
 *     = redis-8.0 valkey-8.1     what follows happened on these servers, instead of the lines above
 */
import { printReply, type RawReply } from '../support/reply-text.ts';

/** One line of a transcript that does something. */
export type Step =
  | {
      readonly kind: 'request';
      readonly client: string;
      readonly argv: string[];
      readonly sorted: boolean;
      readonly held: boolean;
      readonly awaited: boolean;
    }
  | { readonly kind: 'resp'; readonly protocol: 2 | 3 }
  | { readonly kind: 'wait'; readonly millis: number }
  | { readonly kind: 'hangup'; readonly client: string }
  | { readonly kind: 'config'; readonly name: string; readonly value: string };

/** One step with the line it stands on, and the lines that record what it brought about. */
export interface Recorded {
  readonly line: string;
  readonly step: Step;
  /** On every server that `elsewhere` does not name. */
  readonly outcome: string[];
  /** What happened on servers where it was something else. */
  readonly elsewhere: Map<string, string[]>;
}

/** One independent part of a transcript. */
export interface Section {
  readonly name: string;
  readonly steps: readonly Recorded[];
}

/** What a step brought about. */
export interface Outcome {
  readonly replies: readonly { client: string; reply: RawReply }[];
  /** The clients whose connection the server closed. */
  readonly closed: readonly string[];
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

/** Reads a transcript: its steps, and what was recorded of them. */
export function parseTranscript(text: string): Section[] {
  const sections: { name: string; steps: Recorded[] }[] = [];
  let into: string[][] = [];
  for (const line of text.split('\n')) {
    const steps = sections.at(-1)?.steps;
    if (line.startsWith('## ')) sections.push({ name: line.slice(3), steps: [] });
    else if (OUTCOME.test(line)) for (const lines of into) lines.push(line);
    else if (line.startsWith('= ')) into = otherOutcomes(line, steps?.at(-1));
    else if (line !== '') {
      const recorded = { line, step: parseStep(line), outcome: [], elsewhere: new Map() };
      steps?.push(recorded);
      into = [recorded.outcome];
    }
  }
  return sections;
}

/** Where the lines after `= server …` go. */
function otherOutcomes(line: string, recorded: Recorded | undefined): string[][] {
  return line
    .slice(2)
    .split(' ')
    .map((server) => {
      const lines: string[] = [];
      recorded?.elsewhere.set(server, lines);
      return lines;
    });
}

function parseStep(line: string): Step {
  const [, word = '', rest = ''] = /^@(\w+) ?(.*)$/.exec(line) ?? [];
  const [first = '', second = ''] = splitWords(rest);
  if (word === 'resp') return { kind: 'resp', protocol: rest === '3' ? 3 : 2 };
  if (word === 'wait') return { kind: 'wait', millis: parseInt(rest, 10) };
  if (word === 'hangup') return { kind: word, client: rest };
  if (word === 'config') return { kind: 'config', name: first, value: second };
  const [, before, request] = /^([\w ]*)>(.*)$/.exec(line) ?? [];
  if (before === undefined || request === undefined) throw new Error(`not a line of a transcript: ${line}`);
  const words = before.split(' ');
  const client = words.find((each) => !['', 'sorted', 'held', 'awaited'].includes(each)) ?? 'a';
  const marks = {
    sorted: words.includes('sorted'),
    held: words.includes('held'),
    awaited: words.includes('awaited'),
  };
  return { kind: 'request', client, argv: splitWords(request), ...marks };
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

/**
 * Plays a section. Returns the lines that say what each step brought about.
 *
 * @param isLeftOut which steps are not played; their lines are what the first server answered
 */
export async function play(
  section: Section,
  target: Target,
  isLeftOut: (line: string) => boolean = () => false,
): Promise<string[][]> {
  await target.begin();
  const outcomes: string[][] = [];
  for (const { line, step, outcome } of section.steps) {
    outcomes.push(isLeftOut(line) ? outcome : outcomeLines(step, await target.perform(step)));
  }
  return outcomes;
}

function outcomeLines(step: Step, { replies, closed, effects, events, now }: Outcome): string[] {
  const { sorted, argv } = step.kind === 'request' ? step : { sorted: false, argv: [] };
  return [
    ...replies.map(({ client, reply }) => {
      const text = coarse(printReply(reply, sorted), argv);
      return `< ${client} ${relative(text, now)}`;
    }),
    ...closed.map((client) => `< ${client} (closed)`),
    ...effects.map((effect) => `~ ${relative(effect.map(quote).join(' '), now)}`),
    ...events.map(({ key, event }) => `! ${quote(key)} ${event}`),
  ];
}

/** What each step of a section brought about on a server, as recorded. */
export function recordedOutcomes(section: Section, server: string): string[][] {
  return section.steps.map(({ outcome, elsewhere }) => elsewhere.get(server) ?? outcome);
}

/** The text of a section as one server played it. */
export function written(section: Section, outcomes: readonly string[][]): string {
  const lines = section.steps.flatMap(({ line }, i) => [line, ...(outcomes[i] ?? [])]);
  return `## ${section.name}\n${lines.map((line) => `${line}\n`).join('')}`;
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

/**
 * Replies that are not the same in every recording, coarsely: TTL and PTTL (what is years ahead was asked for as an
 * absolute time), and HELLO without the server's name, version and modules and the client's number.
 */
function coarse(text: string, argv: readonly string[]): string {
  if (argv[0] === 'HELLO') {
    return text.replace(/"server" .*("proto" :\d) .*("mode" .*) "modules" .*\]$/, '... $1 ... $2 ...]');
  }
  const unit = { TTL: 1000, PTTL: 1 }[argv[0] ?? ''] ?? 0;
  if (unit === 0) return text;
  return text.replace(/^:(\d{2,})$/, (_all, digits) => {
    const millis = parseInt(digits, 10) * unit;
    return millis > 1e12 ? ':~years' : `:~${tens(millis)}s`;
  });
}
