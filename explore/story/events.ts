/** Chooses the events of a story: all that make the cause, and then what is nearest to the breach. */
import type { Tenure } from '../../lab/account/tenures.ts';
import { beginning } from '../../page/text.ts';
import { leaseEnd } from '../cause/cause.ts';
import type { Cause, CauseGrant } from '../cause/reason.ts';
import { accountOfWorld, micros } from '../cause/recorded.ts';
import { textOf } from '../cause/request.ts';
import type { PlayedWorld, StoryLine } from '../played-world.ts';
import type { Breach, FindingEvent } from '../visit.ts';
import { namesText, timeText } from './text.ts';

/** How long a story should be at most. One whose cause has more events is longer. */
const AIM = 12;
/** How many lines of what clients print a story has at most, and how long each is. */
const [MOST_PRINTED, LONGEST_PRINTED] = [3, 100];
/** How many kinds of errors are told. */
const MOST_ERRORS = 3;

/** What clients do at a resource comes after what servers did at the same moment. */
const ACTS = 1e6;

/** Grants of several servers that are at most so far apart are one event, in microseconds. */
const TOGETHER = 5000;

/** The grants of one request to several servers, in the groups in which they were executed. */
function togetherIn(tenures: readonly Tenure[]): Tenure[][] {
  const groups: Tenure[][] = [];
  for (const tenure of [...tenures].sort((a, b) => a.from - b.from)) {
    const group = groups.at(-1);
    if (group !== undefined && tenure.from - (group[0] as Tenure).from <= TOGETHER) group.push(tenure);
    else groups.push([tenure]);
  }
  return groups;
}

/** An event that may be part of the story. */
interface PossibleEvent extends FindingEvent {
  /** True when the story is not true without it. */
  readonly kept: boolean;
  /** How much it matters, if it may be left out. */
  readonly weight: number;
  /** Of events at the same moment, the order. */
  readonly order: number;
}

/** The events of the story of a breach, in order. */
export function eventsOf(world: PlayedWorld, breach: Breach, cause: Cause): FindingEvent[] {
  const all = [...new PossibleEvents(world, breach, cause).all()];
  const kept = all.filter((each) => each.kept);
  const others = all
    .filter((each) => !each.kept && each.at <= breach.at)
    .sort((a, b) => b.weight - a.weight || b.at - a.at)
    .slice(0, Math.max(0, AIM - kept.length));
  return [...kept, ...others]
    .sort((a, b) => a.at - b.at || a.order - b.order)
    .map(({ at, who, text }) => ({ at, who, text }));
}

/** Everything that could be told. */
class PossibleEvents {
  readonly #world: PlayedWorld;
  readonly #breach: Breach;
  readonly #cause: Cause;
  readonly #actors: ReadonlySet<string>;
  #order = 0;

  constructor(world: PlayedWorld, breach: Breach, cause: Cause) {
    this.#world = world;
    this.#breach = breach;
    this.#cause = cause;
    this.#actors = new Set(cause.clients);
  }

  *all(): Iterable<PossibleEvent> {
    yield* this.#faults();
    yield* this.#formerHolder();
    yield* this.#late();
    yield* this.#grants();
    if (this.#world.world === undefined) yield* this.#written();
    yield* this.#repetitions();
    yield* this.#errors();
    yield* this.#freeing();
    yield* this.#unmarked();
    yield* this.#afterOverwriting();
    yield* this.#unconfirmed();
    yield* this.#refusal();
    yield* this.#left();
    yield* this.#waitingAndLost();
    yield* this.#acts();
    yield* this.#printed();
    for (const event of this.#breach.events ?? []) yield this.#kept(event.at, event.who, event.text);
    const { at, promise, what } = this.#breach;
    yield {
      ...this.#kept(Math.min(at, this.#world.endedAt), '*', `${promise} is broken: ${what}`),
      order: Infinity,
    };
  }

  #kept(at: number, who: string, text: string): PossibleEvent {
    return { at, who, text, kept: true, weight: 0, order: this.#order++ };
  }

  #maybe(at: number, who: string, text: string, weight: number): PossibleEvent {
    return { at, who, text, kept: false, weight, order: this.#order++ };
  }

  *#faults(): Iterable<PossibleEvent> {
    const resent = new Set(this.#cause.twice.map(({ first }) => first.client));
    // The request whose reply was lost has a line of its own.
    for (const { at, who, what, kind } of this.#world.lines)
      if (kind === 'fault')
        yield this.#maybe(at, who, resent.has(who) ? what.replace(/, and a reply is lost$/, '') : what, 5);
  }

  /** Of a client that freed another's lock: how it lost its own. */
  *#formerHolder(): Iterable<PossibleEvent> {
    const { freedBy, grants } = this.#cause;
    if (freedBy?.role !== 'former holder') return;
    const { tenures } = accountOfWorld(this.#world).account;
    const own = tenures.findLast(
      ({ client, lock, from }) =>
        client === freedBy.by && lock === freedBy.tenure?.lock && from < (grants[0]?.executed ?? 0) * 1000,
    );
    if (own === undefined) return;
    const text = own.call === undefined ? own.what : textOf(own.call);
    yield this.#maybe(own.from / 1000, own.client, `${text} on ${own.node}: ${this.#until(own)}`, 4);
    if (own.end?.how === 'expired')
      yield this.#maybe(own.end.at / 1000, own.node, `the lease of ${own.client}'s lock ends`, 4);
  }

  *#grants(): Iterable<PossibleEvent> {
    for (const grant of this.#cause.grants) {
      const { client, executed, sent, tenures } = grant;
      const groups = togetherIn(tenures);
      if (groups.length === 0) yield this.#kept(executed ?? sent, client, this.#grantText(grant, []));
      for (const group of groups)
        yield this.#kept((group.at(-1) as Tenure).from / 1000, client, this.#grantText(grant, group));
    }
  }

  /** On real servers, which record no requests: the last write of each client before it entered, and what removed its key. */
  *#written(): Iterable<PossibleEvent> {
    const { writes } = accountOfWorld(this.#world).run;
    const told = new Set<(typeof writes)[number]>();
    for (const { client, at } of this.#cause.entries) {
      const own = writes.findLast(
        ({ write, ...each }) => write.client === client && each.at / 1000 <= at && write.type !== 'none',
      );
      if (own === undefined) continue;
      told.add(own);
      const gone = writes.find(
        ({ write, ...each }) => write.key === own.write.key && write.type === 'none' && each.at >= own.at,
      );
      if (gone !== undefined && gone.at / 1000 <= this.#breach.at) told.add(gone);
    }
    for (const { at, node, write } of told) {
      const text = textOf({ name: (write.command[0] ?? '').toLowerCase(), words: write.command });
      yield this.#kept(at / 1000, write.client ?? node, `${text} on ${node}`);
    }
  }

  /** A request that let a client enter. @param tenures what it began at one moment */
  #grantText({ text, nodes, reply, call, answered }: CauseGrant, tenures: readonly Tenure[]): string {
    const { freedBy, twice } = this.#cause;
    const again = twice.some((each) => each.again.call === call) ? ', sent again' : '';
    const last = tenures.at(-1);
    const where = last === undefined ? nodes : tenures.map(({ node }) => node);
    const head = `${text} on ${namesText(where)}${again}`;
    if (last === undefined) return `${head}: the reply is ${reply ?? 'lost'}`;
    const lost = answered === null ? '; the reply is lost' : '';
    const over =
      freedBy?.request?.call === call && freedBy.how === 'overwritten' ? this.#strikeText('overwrites') : '';
    return `${head}${over}: ${this.#until(last)}${lost}`;
  }

  #until(tenure: Tenure): string {
    const end = leaseEnd(tenure);
    return end === undefined ? 'granted without a lease' : `granted until ${timeText(end)}`;
  }

  /** What the freeing act does to the lock that it strikes. */
  #strikeText(verb: string): string {
    const { tenure, by } = this.#cause.freedBy ?? {};
    if (tenure === undefined) return '';
    return ` ${verb} ${tenure.client === by ? 'its own lock' : `the lock of ${tenure.client}`}`;
  }

  /** Requests that were executed twice. */
  *#repetitions(): Iterable<PossibleEvent> {
    const told = new Set([...this.#cause.grants.map(({ call }) => call), this.#cause.freedBy?.request?.call]);
    for (const { first, again } of this.#cause.twice) {
      const where = `${first.text} on ${namesText(first.nodes)}`;
      if (!this.#cause.grants.some(({ call }) => call === first.call))
        yield this.#kept(
          first.executed ?? first.sent,
          first.client,
          `${where} is executed, but the reply is lost`,
        );
      if (!told.has(again.call))
        yield this.#kept(
          again.executed ?? again.sent,
          again.client,
          `${where} is sent again, and executed again`,
        );
    }
  }

  *#errors(): Iterable<PossibleEvent> {
    const own = this.#cause.errors.filter(
      ({ client }) => this.#actors.size === 0 || this.#actors.has(client),
    );
    const first = own.filter(
      ({ node, code }, i) => own.findIndex((each) => each.node === node && each.code === code) === i,
    );
    for (const { node, code, client, kind, at } of first.slice(0, MOST_ERRORS)) {
      const all = own.filter((each) => each.node === node && each.code === code);
      const count = all.reduce((sum, each) => sum + each.count, 0);
      const text =
        count === 1
          ? `answers ${code} to ${client}'s ${kind}`
          : `answers ${code} ${count} times, first to ${client}'s ${kind}`;
      yield this.#kept(at, node, text);
    }
  }

  *#late(): Iterable<PossibleEvent> {
    for (const { to, from, what, arrived, by, isReply } of this.#cause.late) {
      const text = isReply
        ? `the reply to its ${what} arrives ${timeText(by)} late`
        : `its ${what} reaches ${to} ${timeText(by)} late`;
      yield this.#kept(arrived, isReply ? to : from, text);
    }
  }

  *#freeing(): Iterable<PossibleEvent> {
    const { freedBy, grants, twice } = this.#cause;
    if (freedBy === undefined) return;
    const { how, at, by, node, request, tenure, what } = freedBy;
    const again = twice.some((each) => each.again.call === request?.call) ? ', sent again,' : '';
    const who = by ?? node ?? '*';
    const owner = tenure?.client ?? grants[0]?.client ?? '';
    const asked = `${request?.text ?? what} on ${node ?? ''}${again}`;
    if (how === 'overwritten' && grants.some(({ call }) => call === request?.call)) return;
    if (how === 'released') yield this.#kept(at, who, `${asked} gives back its own lock`);
    else if (how === 'deleted' || how === 'flushed')
      yield this.#kept(at, who, `${asked}${this.#strikeText('deletes')}`);
    else if (how === 'overwritten') yield this.#kept(at, who, `${asked}${this.#strikeText('overwrites')}`);
    else if (how === 'shortened')
      yield this.#kept(request?.executed ?? at, who, `${asked} shortens the lease of ${owner}'s lock`);
    else if (how === 'put again') yield this.#kept(at, who, `${asked} puts ${what} into the queue again`);
    else if (how === 'changed') yield this.#kept(at, who, `${asked} lets another in`);
    else if (
      /^(?:together|claimed)$/.test(how) &&
      !grants.some(({ call }) => call === request?.call) &&
      request !== undefined
    )
      yield this.#kept(request.executed ?? at, who, `${asked}: the reply is ${request.reply}`);
    else if (how === 'evicted') yield this.#kept(at, who, `evicts the lock of ${owner}`);
    else if (how === 'clock') yield this.#kept(at, who, `the lease of ${owner}'s lock ends: ${what}`);
    else if (how === 'lost' && request !== undefined)
      yield this.#kept(
        request.executed ?? at,
        who,
        `${request.text} on ${request.call.node}${request.call.words.includes(tenure?.key ?? '') ? ' gives back its own lock' : ''}`,
      );
    else if (how === 'lost') {
      const lost = this.#cause.shape.startsWith('fences: ')
        ? 'the counter of fences'
        : `the lock of ${owner}`;
      yield this.#kept(at, who, `${lost} is lost by ${what}`);
    }
    if (how === 'shortened') yield this.#kept(at, node ?? '*', `the lease of ${owner}'s lock ends`);
    if (how === 'own clock')
      yield this.#kept(
        at,
        node ?? '*',
        `the lease of ${owner}'s lock ends, at the time that its ${what} named`,
      );
    if (how === 'expired')
      yield this.#kept(at, who, `the lease of ${owner}'s lock ends${this.#renewedText(tenure)}`);
  }

  /** The request that would have said that the work is done. */
  *#unmarked(): Iterable<PossibleEvent> {
    const unmarked = this.#cause.unmarked ?? this.#cause.neglected;
    if (unmarked === undefined) return;
    const { client, text, sent, answered, nodes } = unmarked.request;
    yield unmarked.error === undefined
      ? this.#kept(sent, client, `${text} never arrives`)
      : this.#kept(answered ?? sent, namesText(nodes), `answers ${unmarked.error} to ${client}'s ${text}`);
  }

  /** What removed the key that an overwriting left, before the last client got the lock. */
  *#afterOverwriting(): Iterable<PossibleEvent> {
    const { freedBy, grants } = this.#cause;
    const last = grants.at(-1);
    if (freedBy?.how !== 'overwritten' || last?.executed == null || last.call === freedBy.request?.call)
      return;
    const key = freedBy.tenure?.key;
    const { writes } = accountOfWorld(this.#world).run;
    const since = micros(freedBy.at);
    const overwriting = writes.findIndex(
      ({ at, write }) => write.key === key && write.client === freedBy.by && at >= since,
    );
    const removed = writes.find(
      ({ at, write }, i) =>
        i > overwriting && write.key === key && write.type === 'none' && at <= micros(last.executed ?? 0),
    );
    if (removed === undefined) return;
    const { at, node, write } = removed;
    const text = textOf({ name: (write.command[0] ?? '').toLowerCase(), words: write.command });
    if (write.client === undefined) yield this.#kept(at / 1000, node, `the lease of ${key} ends`);
    else yield this.#kept(at / 1000, write.client, `${text} on ${node} removes ${key}`);
  }

  #renewedText(tenure: Tenure | undefined): string {
    const last = tenure?.renewals.at(-1);
    if (last === undefined) return '';
    const others = last.by === tenure?.client ? '' : ` by ${last.by}`;
    return `, which was last renewed at ${timeText(last.at / 1000)}${others}`;
  }

  /** A WAIT that said nothing about the lock. */
  *#unconfirmed(): Iterable<PossibleEvent> {
    const { unconfirmed } = this.#cause;
    if (unconfirmed === undefined) return;
    const { request, why } = unconfirmed;
    const how = { few: '', again: ' is sent again on a new connection,', apart: ' on another connection,' }[
      why
    ];
    yield this.#kept(
      request.answered ?? request.sent,
      request.client,
      `${request.text} on ${namesText(request.nodes)}${how} ${why === 'few' ? '' : 'and '}is answered ${request.reply}`,
    );
  }

  /** A renewal that tells the holder that its lock is gone, or that takes it again. */
  *#refusal(): Iterable<PossibleEvent> {
    const { refused, retaken, misled } = this.#cause;
    if (misled !== undefined && misled.executed !== null)
      yield this.#kept(misled.executed, misled.client, `${misled.text} renews a lock that is not its own`);
    if (retaken !== undefined && retaken.executed !== null)
      yield this.#kept(retaken.executed, retaken.client, `${retaken.text} takes the lock again`);
    if (refused === undefined || refused.answered === null) return;
    yield this.#kept(
      refused.answered,
      refused.client,
      refused.error === undefined
        ? `${refused.text} is answered ${refused.reply}: the lock is not its own any more`
        : `${refused.text} is answered ${refused.error}, and does not renew the lock`,
    );
  }

  /** A lock that nobody gave back. */
  *#left(): Iterable<PossibleEvent> {
    const { left } = this.#cause;
    if (left === undefined) return;
    const { grant, release, tenure, client, cycle = [] } = left;
    for (const each of cycle.slice(1)) {
      const text = each.call === undefined ? each.what : textOf(each.call);
      yield this.#kept(each.from / 1000, each.client, `${text} on ${each.node}: ${this.#until(each)}`);
    }
    if (grant !== undefined) {
      const reply = grant.answered === null ? '; the reply is lost' : '';
      const until =
        tenure === undefined ? `the reply is ${grant.reply ?? 'lost'}` : `${this.#until(tenure)}${reply}`;
      yield this.#kept(
        grant.executed ?? grant.sent,
        client,
        `${grant.text} on ${namesText(grant.nodes)}: ${until}`,
      );
    }
    if (tenure?.restored === true)
      yield this.#kept(tenure.from / 1000, tenure.node, `has the lock of ${client} again, by ${tenure.what}`);
    const bared = left.bared;
    if (bared !== undefined)
      yield this.#kept(
        bared.executed ?? bared.sent,
        bared.client,
        `${bared.text}: the lock of ${client} has no lease any more`,
      );
    const others = tenure?.renewals.filter(({ by }) => by !== client) ?? [];
    const last = others.at(-1);
    if (last !== undefined) {
      const often = others.length === 1 ? 'once' : `${others.length} times`;
      yield this.#kept(
        last.at / 1000,
        last.by,
        `renews the lease of ${client}'s lock: other clients have done so ${often}`,
      );
    }
    if (release === undefined) return;
    const { executed, sent, reply, text } = release;
    const end = executed === null ? 'it never arrives' : `the reply is ${reply ?? 'lost'}`;
    yield this.#kept(executed ?? sent, client, `${text}: ${end}`);
  }

  /** A client that waits in vain, and a write that is gone. */
  *#waitingAndLost(): Iterable<PossibleEvent> {
    const { waiter, lost, update } = this.#cause;
    if (update?.request !== undefined) {
      const { client, executed, sent, text, reply } = update.request;
      yield this.#kept(executed ?? sent, client, `${text}: the reply is ${reply ?? 'lost'}`);
    }
    if (waiter !== undefined)
      yield this.#kept(
        waiter.from / 1000,
        waiter.client,
        `begins to wait at ${waiter.where} on ${waiter.node}`,
      );
    if (lost === undefined) return;
    const { client, node, command } = lost;
    const text = command.join(' ');
    const write = accountOfWorld(this.#world).run.writes.findLast(
      (each) => each.node === node && each.write.command.join(' ') === text,
    );
    if (write !== undefined)
      yield this.#kept(write.at / 1000, client ?? node, `${beginning(text, 80)} on ${node} is acknowledged`);
  }

  /** What clients did at resources, and the trouble that they met. Of many writes, the last of each client says enough. */
  *#acts(): Iterable<PossibleEvent> {
    const entries = new Set(this.#cause.entries.map(({ client, at }) => `${client} ${at}`));
    const { grants, left } = this.#cause;
    const since = grants[0]?.sent ?? left?.grant?.sent ?? 0;
    const written = new Set<string>();
    for (const [i, line] of [...this.#world.lines.entries()].reverse()) {
      const { at, who, what, kind } = line;
      if (at > this.#breach.at && !this.#isKept(line, entries)) continue;
      if (kind === 'visit' && this.#isKept(line, entries))
        yield { ...this.#kept(at, who, what), order: ACTS + i };
      else if (kind === 'trouble' && this.#matters(who))
        yield { ...this.#maybe(at, who, what, 3), order: ACTS + i };
      else if (kind === 'visit' && this.#matters(who) && at >= since) {
        const act = `${who} ${what}`;
        if (!written.has(act))
          yield { ...this.#maybe(at, who, what, what.startsWith('sends ') ? 4 : 1), order: ACTS + i };
        if (what.startsWith('writes ')) written.add(act);
      }
    }
  }

  #matters(who: string): boolean {
    return this.#actors.size === 0 || this.#actors.has(who);
  }

  /** The entries that the breach is about, and the act that showed it. */
  #isKept({ at, who, what }: StoryLine, entries: ReadonlySet<string>): boolean {
    if (what.startsWith('enters ')) return entries.has(`${who} ${at}`);
    if (this.#breach.promise === 'once' && /^(?:writes to|its write arrives at) /.test(what))
      return this.#isDoing(who, at);
    return this.#cause.entries.length > 1 && at === this.#breach.at && this.#actors.has(who);
  }

  /** True for the write by which a visit of the breach did the work. */
  #isDoing(who: string, at: number): boolean {
    return this.#cause.entries.some(
      ({ client, visit }) =>
        client === who && this.#world.visits[visit]?.writes.find(({ taken }) => taken)?.at === at,
    );
  }

  *#printed(): Iterable<PossibleEvent> {
    const own = (this.#world.output ?? []).filter(
      ({ at, who }) => at <= this.#breach.at && this.#matters(who),
    );
    for (const { at, who, what } of own.slice(-MOST_PRINTED)) {
      const text = what.length > LONGEST_PRINTED ? `${what.slice(0, LONGEST_PRINTED - 3)}...` : what;
      yield this.#maybe(at, who, `prints ${JSON.stringify(text)}`, 2);
    }
  }
}
