/** Plays a program on both servers, request by request, and finds the first difference: in replies, events, effects or data. */

import { setTimeout as wait } from 'node:timers/promises';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import type { Caller } from '../../../server/server.ts';
import type { Command } from '../../../server/table/command.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { type RawReply, readReply, replyEnd } from '../../support/reply-text.ts';
import type { Coverage } from '../coverage.ts';
import type { Lane } from '../lane.ts';
import type { Program, Step } from '../program.ts';
import { OurSide, type RealSide } from '../sides.ts';
import { compareData } from './dataset.ts';
import type { Difference } from './difference.ts';
import { type Accepted, accepted } from './known.ts';
import { same, sameEffect } from './normalise.ts';
import type { Rule } from './rule.ts';
import { unspecified } from './unspecified.ts';

/** What one request brought on one server. */
export interface Answer {
  readonly where: string;
  readonly items: readonly Bytes[];
}

export interface PlayOptions {
  /** Commands that take the place of ours: the tester's own test. */
  readonly commands?: readonly Command<Caller>[];
  /** Waits after every request until nothing more can come: a difference then shows at its own request. */
  readonly careful?: boolean;
  /** Counts what was reached. */
  readonly coverage?: Coverage | undefined;
  /** Is handed everything that was received, for a transcript. */
  readonly record?: (sent: Step | undefined, mine: readonly Answer[], theirs: readonly Answer[]) => void;
}

/** Deadlines up to here are waited for; the generator has none that are later and still near. */
const SOON = 150;
const NEAR = 3000;

/** Plays a program. Answers the first difference; 'inconclusive' when something was about to expire by chance. */
export async function play(
  program: Program,
  real: RealSide,
  options: PlayOptions = {},
): Promise<Difference | 'inconclusive' | undefined> {
  await real.begin(program);
  const ours = new OurSide(program, real.dialect, options.commands, Number(real.idOf(0)));
  const readers = program.protocols.map(() => new Reader(real.dialect, options.coverage));
  try {
    for (const [index, given] of program.steps.entries()) {
      ours.keepTime();
      const step = { ...given, client: await freeClient(given.client, index, ours, real) };
      if (unspecified(step.argv, ours, step.client)) continue;
      // Writing to a closed connection might lose replies that were not read yet.
      if (!ours.clients[step.client]?.closed) {
        readers[step.client]?.asked(step);
        real.send(step.client, resolved(step.argv, real));
      }
      ours.send(step.client, resolved(step.argv, ours));
      options.coverage?.sent(step.argv, program.protocols[step.client] ?? 2, ours.isBlocked(step.client));
      const waitedOut = await waitOut(ours);
      if (waitedOut === 'inconclusive') return 'inconclusive';
      // What waited in line behind a wait is carried out at once, and a deadline among it at any time.
      const released = readers.some((reader, i) => reader.backlog > 1 && !ours.isBlocked(i));
      const waited = waitedOut === 'waited' || released || setsThePast(step.argv);
      await real.catchUp(ours);
      if (options.careful) await real.fence();
      const difference = compareStep(step, program.steps, index, ours, real, readers, waited, options);
      if (difference === 'halted') return undefined;
      if (difference !== undefined) return difference;
    }
    await real.fence();
    const last = program.steps.length;
    const late = compareStep(undefined, program.steps, last, ours, real, readers, true, options);
    return late === undefined ? await compareData(last, ours, real) : late === 'halted' ? undefined : late;
  } finally {
    ours.stop();
  }
}

/**
 * Waits for the deadlines that are near, one after the other: a busy real server may reach several of them at once.
 * 'inconclusive' when one is neither near nor far.
 */
export async function waitOut(ours: OurSide): Promise<'waited' | 'nothing' | 'inconclusive'> {
  const left = (): number => (ours.host.nextAt ?? Infinity) - ours.host.clock.now();
  let waited = false;
  for (let distance = left(); distance < NEAR; distance = left()) {
    if (distance > SOON) return 'inconclusive';
    await wait(distance + 2);
    ours.keepTime();
    waited = true;
  }
  return waited ? 'waited' : 'nothing';
}

/** MSETEX with a time, which may have passed: its keys then expire together, in the order of a hash table. */
function setsThePast([name = '', ...words]: readonly Bytes[]): boolean {
  return /^(msetex|exec|eval|fcall)/i.test(name) && words.some((word) => /^(px|ex)at$/i.test(word));
}

/** Every so many requests stay behind the one that their connection waits for. */
const PIPELINED = 4;

/**
 * The connection that sends a step: another one while its own waits, so that programs go on; when all wait, its own
 * is let go.
 */
async function freeClient(client: number, step: number, ours: OurSide, real: RealSide): Promise<number> {
  if (!ours.isBlocked(client) || step % PIPELINED === 0) return client;
  const others = ours.clients.map((_, i) => (client + i) % ours.clients.length);
  const free = others.find((each) => !ours.isBlocked(each) && !ours.clients[each]?.closed);
  if (free !== undefined) return free;
  for (const side of [real, ours]) await side.ask([['CLIENT', 'UNBLOCK', side.idOf(client)]]);
  return client;
}

/** Words that name a connection by its number on the server that is asked. */
function resolved(argv: readonly Bytes[], side: { idOf(client: number): string }): readonly Bytes[] {
  return argv.map((word) => {
    const [, client] = /^\{client (\d)\}$/.exec(word) ?? [];
    return client === undefined ? word : side.idOf(Number(client));
  });
}

function compareStep(
  sent: Step | undefined,
  steps: readonly Step[],
  step: number,
  ours: OurSide,
  real: RealSide,
  readers: readonly Reader[],
  waited: boolean,
  { record, coverage }: PlayOptions,
): Difference | 'halted' | undefined {
  const lanes: [string, Lane, Lane][] = ours.clients.map((lane, i) => [
    `client ${i}`,
    lane,
    real.clients[i]!,
  ]);
  lanes.push(['events', ours.events, real.events], ['stream', ours.stream, real.stream]);
  const taken = lanes.map(([where, a, b]) => ({ where, mine: takeAll(a), theirs: takeAll(b) }));
  for (const { where, theirs } of taken) coverage?.brought(where, theirs);
  record?.(
    sent,
    taken.map(({ where, mine }) => ({ where, items: mine })),
    taken.map(({ where, theirs }) => ({ where, items: theirs })),
  );
  const unordered = walksTables(steps, step);
  for (const [index, { where, mine, theirs }] of taken.entries()) {
    const found =
      where === 'events' || where === 'stream'
        ? compareList(mine, theirs, where, waited || (where === 'events' && unordered))
        : readers[index]!.compare(mine, theirs);
    if (readers[index]?.halted) return 'halted';
    if (!ours.isBlocked(index)) readers[index]?.settled();
    if (found !== undefined) return { step, where, mine: found[0], theirs: found[1] };
  }
  return undefined;
}

/** SORT looks keys up in the order of a hash table, alone, in a transaction or in a script. */
function walksTables(steps: readonly Step[], at: number): boolean {
  const sorts = ({ argv }: Step): boolean => argv.some((word) => /^sort(_ro)?$/i.test(word));
  const step = steps[at];
  return (
    step !== undefined &&
    (sorts(step) || (/^exec$/i.test(step.argv[0] ?? '') && steps.slice(0, at).some(sorts)))
  );
}

const CLOSED = '(closed)';

/** The message that names a connection by its number. */
const BROKEN = '>2\r\n$21\r\ntracking-redir-broken\r\n';

function takeAll(lane: Lane): Bytes[] {
  const items = lane.take().map((item) => (item.startsWith(BROKEN) ? `${BROKEN}:1\r\n` : item));
  if (lane.closed) items.push(CLOSED);
  return items;
}

type Pair = readonly [Bytes, Bytes];

/** Two servers do not reach the same millisecond, so an instant says nothing about an item's place; nor does the order of fields. */
function sortItems(items: Bytes[]): void {
  const place = (item: Bytes): string => {
    const words = item.replace(/\d{12,19}/g, 'instant').split('\r\n');
    return (words[2] === 'HDEL' ? [...words.slice(0, 5), ...words.slice(5).sort()] : words).join('\r\n');
  };
  items.sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
}

/** Keyspace events and effects: in order, except where several keys expired while both servers waited. */
export function compareList(
  mine: Bytes[],
  theirs: Bytes[],
  where: string,
  waited: boolean,
): Pair | undefined {
  if (waited) {
    sortItems(mine);
    sortItems(theirs);
  }
  for (let i = 0; i < Math.max(mine.length, theirs.length); i++) {
    const [a, b] = [mine[i] ?? '', theirs[i] ?? ''];
    if (a === b) continue;
    const alike = where === 'stream' && a !== '' && b !== '' && sameEffect(readReply(a), readReply(b));
    if (!alike) return [a, b];
  }
  return undefined;
}

/** A request that waits for its answer. */
interface Asked {
  readonly argv: readonly Bytes[];
  readonly rule: Rule;
}

/** The exception for a difference; for EXEC's, those of its elements: each needs one. */
export function excuse(
  { argv, rule }: Asked,
  inside: readonly (readonly Bytes[])[],
  mine: Bytes,
  theirs: Bytes,
  dialect: string = INSTALLED,
): Accepted | undefined {
  const applying = accepted.filter(({ dialects }) => dialects?.includes(dialect) !== false);
  const [a, b] = [elements(mine), elements(theirs)];
  if (inside.length === 0 || a === undefined || a.length !== b?.length) {
    return applying.find((each) => each.applies(argv, mine, theirs));
  }
  const parts = a.flatMap((one, i) => {
    const [words, other] = [inside[i] ?? [], b[i]!];
    const each = typeof rule === 'object' && 'each' in rule ? (rule.each[i] ?? 'exact') : 'exact';
    if (same(each, one, other)) return [];
    return [applying.find((known) => known.applies(words, String(one[1]), String(other[1])))];
  });
  return parts.includes(undefined) ? undefined : (parts.find((known) => known?.ends) ?? parts[0]);
}

function elements(reply: Bytes): readonly RawReply[] | undefined {
  const [, value] = readReply(reply);
  return Array.isArray(value) ? (value as readonly RawReply[]) : undefined;
}

/** A message: COMMAND DOCS of such a command is none. */
const MESSAGE = /^(>|\*\d\r\n\$\d+\r\n([ps]?message|[ps]?(un)?subscribe)\r\n[$_])/;
const ACKNOWLEDGEMENT = /\r\n[ps]?(un)?subscribe\r\n/;
const SUBSCRIPTION = /^[PS]?(UN)?SUBSCRIBE$/;

/** A request that has no reply of its own where EXEC counts on one. */
function blurs([name = '', sub = '']: readonly Bytes[]): boolean {
  return (
    SUBSCRIPTION.test(asciiUpper(name)) || (asciiUpper(name) === 'CLIENT' && asciiUpper(sub) === 'REPLY')
  );
}

/** Follows one connection: which request each reply belongs to, and what its transaction has queued. */
class Reader {
  #pending: Asked[] = [];
  #queued: Asked[] = [];
  /** A transaction subscribes or turns replies off: its replies are not as many as its requests. */
  #blurred = false;
  /** The messages taken out of what came answer subscribing requests: those have no other reply. */
  #acknowledged = false;
  #last: readonly Bytes[] = [];
  readonly #dialect: string;
  readonly #coverage: Coverage | undefined;
  /** The connection has come to where redis-server leaves it hanging: nothing more can be compared. */
  halted = false;

  constructor(dialect: string, coverage: Coverage | undefined) {
    this.#dialect = dialect;
    this.#coverage = coverage;
  }

  /** Requests that have no answer yet. */
  get backlog(): number {
    return this.#pending.length;
  }

  asked({ argv, rule }: Step): void {
    this.#last = argv;
    if (argv.length > 0) this.#pending.push({ argv, rule });
  }

  /** The first pair of replies that differ. */
  compare(mine: Bytes[], theirs: Bytes[]): Pair | undefined {
    this.#acknowledged = false;
    if (JSON.stringify(mine) !== JSON.stringify(theirs)) {
      const [a, b] = [withoutPushes(mine), withoutPushes(theirs)];
      if (!sameMessages(a.pushes, b.pushes)) return [a.pushes.join(''), b.pushes.join('')];
      this.#acknowledged = a.pushes.some((push) => ACKNOWLEDGEMENT.test(push));
      [mine, theirs] = [a.replies, b.replies];
    }
    const isMessage = (item: Bytes): boolean => MESSAGE.test(item);
    const messages = [mine.filter(isMessage), theirs.filter(isMessage)] as const;
    const ordered = sameMessages(...messages);
    for (let i = 0; i < Math.max(mine.length, theirs.length); i++) {
      const [a, b] = [mine[i] ?? '', theirs[i] ?? ''];
      if (isMessage(a)) {
        if (a !== b && this.#blurred) return undefined;
        if (a !== b && !(isMessage(b) && ordered)) return [a, b];
        if (ACKNOWLEDGEMENT.test(a)) this.#acknowledge();
        continue;
      }
      const { rule, argv, inside } = this.#next(a);
      this.#coverage?.answered(argv, b, inside);
      if (a === b) continue;
      // 7.0 forgets to close the connection after a QUIT that it may not answer.
      this.halted = a === CLOSED && b === '' && asciiUpper(this.#last[0] ?? '') === 'QUIT';
      if (this.halted) return undefined;
      if (a === '' || b === '' || a === CLOSED || b === CLOSED) return [a, b];
      if (this.#blurred) return undefined;
      const broken = replyEnd(a, 0) < 0 || replyEnd(b, 0) < 0;
      if (broken ? sameMessages([a], [b]) : same(rule, readReply(a), readReply(b))) continue;
      const known = broken ? undefined : excuse({ argv, rule }, inside, a, b, this.#dialect);
      if (known === undefined) return [a, b];
      this.halted = known.ends === true;
      if (this.halted) return undefined;
    }
    return undefined;
  }

  /** Everything asked so far has been answered, unless its answer was turned off. */
  settled(): void {
    this.#blurred = false;
    this.#pending = [];
  }

  /** The first message of a subscribing request: what follows belongs to the next. */
  #acknowledge(): void {
    if (SUBSCRIPTION.test(asciiUpper(this.#pending[0]?.argv[0] ?? ''))) this.#pending.shift();
  }

  #skipAcknowledged(): void {
    while (SUBSCRIPTION.test(asciiUpper(this.#pending[0]?.argv[0] ?? ''))) this.#pending.shift();
  }

  #next(reply: Bytes): Asked & { inside: readonly (readonly Bytes[])[] } {
    if (this.#acknowledged && !reply.startsWith('-')) this.#skipAcknowledged();
    const { rule, argv } = this.#pending.shift() ?? { rule: 'exact', argv: [] };
    if (reply === '+QUEUED\r\n') {
      this.#queued.push({ rule, argv });
      return { rule, argv, inside: [] };
    }
    if (!/^(EXEC|DISCARD|RESET)$/.test(asciiUpper(argv[0] ?? ''))) return { rule, argv, inside: [] };
    this.#blurred = this.#queued.some((queued) => blurs(queued.argv));
    const queued = this.#queued;
    this.#queued = [];
    return { rule: { each: queued.map((each) => each.rule) }, argv, inside: queued.map((each) => each.argv) };
  }
}

/** Takes RESP3's pushes out of what a connection received, from between the elements of arrays too. */
function withoutPushes(items: readonly Bytes[]): { pushes: Bytes[]; replies: Bytes[] } {
  const pushes: Bytes[] = [];
  const replies: Bytes[] = [];
  let rest = '';
  for (const item of items) {
    if (item === CLOSED) {
      replies.push(item);
      continue;
    }
    for (let at = 0; at < item.length; ) {
      const end = item[at] === '>' ? replyEnd(item, at) : headEnd(item, at);
      if (item[at] === '>') pushes.push(item.slice(at, end));
      else rest += item.slice(at, end);
      at = end;
    }
    // An element may have moved behind the array that lost one to a push.
    while (rest !== '') {
      const end = replyEnd(rest, 0);
      if (end < 0) break;
      replies.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }
  if (rest !== '') replies.push(rest);
  return { pushes, replies };
}

/** Behind an aggregate's head, or behind a whole reply of another kind. */
function headEnd(item: Bytes, at: number): number {
  return '*%~'.includes(item[at] ?? '') ? item.indexOf('\r\n', at) + 2 : replyEnd(item, at);
}

/**
 * Whether two lists of messages say the same where Redis walks over a hash table: the patterns that a message
 * matches, and the names that UNSUBSCRIBE without arguments leaves.
 */
function sameMessages(mine: readonly Bytes[], theirs: readonly Bytes[]): boolean {
  const words = (items: readonly Bytes[]): string =>
    items
      .flatMap((item) => item.split('\r\n'))
      .sort()
      .join('\n');
  return mine.length === theirs.length && words(mine) === words(theirs);
}
