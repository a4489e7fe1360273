/** Checks the story of two clients that were inside together, by the trace and the servers' write logs. */
import type { PlayedWorld } from '../../explore/played-world.ts';
import type { Breach, FindingEvent, Visit } from '../../explore/visit.ts';
import { type Evidence, evidenceOf, isAt, type LoggedWrite, type SeenMessage } from './evidence.ts';

/** A grant as the logs show it: the writes by which a client took a key on one node. */
interface SeenGrant {
  readonly first: LoggedWrite;
  readonly last: LoggedWrite;
}

/** What the key that both visitors took shows. */
interface SeenPair {
  readonly older: { readonly visit: Visit; readonly grant: SeenGrant };
  readonly newer: { readonly visit: Visit; readonly grant: SeenGrant };
}

/** From when on a message is late, in milliseconds. */
const LATE = 10;

/** What is wrong with the story; empty when it has all that it must have. @param events as the story tells them */
export function problemsOf(world: PlayedWorld, breach: Breach, events: readonly FindingEvent[]): string[] {
  const evidence = evidenceOf(world);
  const visits = breach.visits.flatMap((id) => world.visits[id] ?? []);
  const [one, other] = visits;
  if (one === undefined || other === undefined) return ['the breach names no two visits'];
  // Grants of several servers are one event.
  const near = evidence.areIndependent ? 5 : 0.002;
  const pairs = pairsOf(evidence, one, other);
  return [
    ...visits.flatMap((visit) => entryProblems(visit, events)),
    ...(pairs.length > 0
      ? least(pairs.map((pair) => pairProblems(evidence, pair, events, breach, near)))
      : visits.flatMap((visit) => askedProblems(evidence, visit, events))),
    ...errorProblems(evidence, visits, breach, events),
    ...lastProblems(breach, events),
  ];
}

/** Of several nodes or keys, the story tells one. */
function least(all: readonly string[][]): string[] {
  return [...all].sort((a, b) => a.length - b.length)[0] ?? [];
}

function entryProblems({ client, resource, from }: Visit, events: readonly FindingEvent[]): string[] {
  const isTold = events.some(
    ({ at, who, text }) => who === client && isAt(at, from) && text.startsWith(`enters ${resource}`),
  );
  return isTold ? [] : [`the entry of ${client} at ${from} ms is missing`];
}

/** The grants of the two on each node and key that both took. */
function pairsOf({ writes, areIndependent }: Evidence, one: Visit, other: Visit): SeenPair[] {
  const places = new Map(writes.map(({ node, key }) => [`${node}\n${key}`, { node, key }]));
  return [...places.values()].flatMap(({ node, key }): SeenPair[] => {
    const own = writes.filter((write) => write.node === node && write.key === key);
    // What one independent primary granted, no other one knows.
    const all = areIndependent ? own : writes.filter((write) => write.key === key);
    const found = [one, other].map((visit) => ({ visit, grant: grantIn(own, visit) ?? grantIn(all, visit) }));
    const [a, b] = found.filter(
      (each): each is { visit: Visit; grant: SeenGrant } => each.grant !== undefined,
    );
    if (a === undefined || b === undefined) return [];
    return a.grant.first.at <= b.grant.first.at ? [{ older: a, newer: b }] : [{ older: b, newer: a }];
  });
}

/** The last time that the client took the key before it entered, unless it had given it back before it asked anew. */
function grantIn(writes: readonly LoggedWrite[], { client, from, askedAfter }: Visit): SeenGrant | undefined {
  const isOwn = (write: LoggedWrite): boolean => write.client === client && write.sets && write.at <= from;
  const at = writes.findLastIndex(isOwn);
  const last = writes[at];
  if (last === undefined) return undefined;
  if (
    last.at < askedAfter &&
    writes.slice(at + 1).some((write) => write.removes && write.at <= askedAfter + 5)
  )
    return undefined;
  let first = last;
  for (let i = at - 1; i >= 0; i--) {
    const write = writes[i] as LoggedWrite;
    if (write.removes || (write.sets && write.client !== client)) break;
    if (write.sets) first = write;
  }
  return { first, last };
}

function pairProblems(
  evidence: Evidence,
  { older, newer }: SeenPair,
  events: readonly FindingEvent[],
  breach: Breach,
  near: number,
): string[] {
  const freed = freedBy(evidence, older.grant, newer.grant);
  return [
    ...[older, newer].flatMap(({ visit, grant }) => grantProblems(visit, grant, events, near)),
    ...freedProblems(evidence, freed, older, newer, events),
    ...repeatProblems(evidence, freed, events),
    ...lateProblems(
      evidence,
      [...(freed === undefined ? [] : [freed]), older.grant.first, newer.grant.first],
      breach,
      events,
    ),
  ];
}

function grantProblems(
  { client }: Visit,
  { first, last }: SeenGrant,
  events: readonly FindingEvent[],
  near: number,
): string[] {
  const isTold = events.some(
    ({ at, who, text }) =>
      who === client &&
      at >= first.at - near &&
      at <= last.at + near &&
      /^[A-Z]/.test(text) &&
      text.includes(first.key),
  );
  return isTold ? [] : [`the grant of ${client}, ${first.name} ${first.key} at ${first.at} ms, is missing`];
}

/** The first write on the node of the older grant that ended it; undefined when no write there did. */
function freedBy(
  { writes, areIndependent }: Evidence,
  older: SeenGrant,
  newer: SeenGrant,
): LoggedWrite | undefined {
  const { node, key, client } = older.first;
  // Several requests may be executed at one moment, so the order of the log counts.
  return writes
    .slice(writes.indexOf(older.first) + 1)
    .find(
      (write) =>
        (!areIndependent || write.node === node) &&
        write.key === key &&
        (write.removes || (write.sets && write.client !== client)) &&
        write.at <= newer.first.at + 0.002,
    );
}

/** Whether the story has what ended the older grant. */
function freedProblems(
  { writes, changes, areIndependent }: Evidence,
  freed: LoggedWrite | undefined,
  older: SeenPair['older'],
  newer: SeenPair['newer'],
  events: readonly FindingEvent[],
): string[] {
  const { node, key, at: from } = older.grant.first;
  const until = newer.grant.first.at;
  const told = (what: string, test: (event: FindingEvent) => boolean): string[] =>
    events.some(test) ? [] : [`what freed ${key} is missing: ${what}`];
  const isLoss = changes.some((each) => each.what !== 'clock' && each.at >= from && each.at <= until + 0.002);
  if (freed === undefined || (isLoss && !freed.removes))
    return told('a failover or restart', ({ text }) => /is lost by|overwrites/.test(text));
  const lease = writes.findLast(
    (write) =>
      (!areIndependent || write.node === node) &&
      write.key === key &&
      write.at < freed.at &&
      write.deadline !== undefined,
  );
  const isOver =
    freed.removes && lease?.deadline !== undefined && lease.at >= from && freed.clock >= lease.deadline;
  if (isOver)
    return told(
      'the end of the lease',
      ({ at, text }) => /the lease of .* ends/.test(text) && at >= from && at <= freed.at + 0.002,
    );
  const { client, name, at } = freed;
  if (client === undefined)
    return told('the server itself', (event) => isAt(event.at, at) || /evicts/.test(event.text));
  return told(
    `${client}'s ${name} at ${at} ms`,
    (event) =>
      event.who === client &&
      isAt(event.at, at) &&
      /deletes|gives back|overwrites|lets another in/.test(event.text),
  );
}

/** A freeing request that is the repetition of one whose reply was lost must be told with both. */
function repeatProblems(
  { messages, writes }: Evidence,
  freed: LoggedWrite | undefined,
  events: readonly FindingEvent[],
): string[] {
  if (freed?.client === undefined) return [];
  const asked = requestAt(messages, freed);
  if (asked === undefined) return [];
  const before = messages.findLast(
    (each) =>
      each.bytes === asked.bytes &&
      each.from === asked.from &&
      each.to === asked.to &&
      each.at < asked.at &&
      !each.lost,
  );
  if (before === undefined) return [];
  const isExecuted = writes.some((write) => write.client === freed.client && isAt(write.at, before.at));
  const isUnanswered = messages.some(
    (each) => each.lost && each.from === before.to && each.to === before.from && isAt(each.sent, before.at),
  );
  if (!isExecuted || !isUnanswered) return [];
  const hasFirst = events.some(({ who, at }) => who === freed.client && isAt(at, before.at));
  const hasAgain = events.some(({ at, text }) => isAt(at, freed.at) && text.includes('sent again'));
  return [
    ...(hasFirst ? [] : [`the first execution of the repeated request at ${before.at} ms is missing`]),
    ...(hasAgain ? [] : ['that the request was sent again is missing']),
  ];
}

/** The message that brought the write. */
function requestAt(
  messages: readonly SeenMessage[],
  { client, node, at }: LoggedWrite,
): SeenMessage | undefined {
  return messages.find((each) => each.from === client && each.to === node && !each.lost && isAt(each.at, at));
}

function lateProblems(
  { messages }: Evidence,
  writes: readonly LoggedWrite[],
  breach: Breach,
  events: readonly FindingEvent[],
): string[] {
  const usual = (from: string, to: string): number =>
    Math.min(
      ...messages
        .filter((each) => each.from === from && each.to === to && !each.lost)
        .map(({ at, sent }) => at - sent),
    );
  return writes.flatMap((write): string[] => {
    const request = requestAt(messages, write);
    if (request === undefined) return [];
    const reply = messages.find(
      (each) =>
        each.from === request.to && each.to === request.from && !each.lost && isAt(each.sent, request.at),
    );
    return [request, reply].flatMap((each): string[] => {
      if (each === undefined || each.at - each.sent - usual(each.from, each.to) < LATE || each.at > breach.at)
        return [];
      const isTold = events.some(({ at, text }) => isAt(at, each.at) && / ms late$/.test(text));
      return isTold
        ? []
        : [`the message from ${each.from} to ${each.to} that came late at ${each.at} ms is missing`];
    });
  });
}

/** Clients that took no key in common: what each asked last before it entered must be told. */
function askedProblems(
  { messages }: Evidence,
  { client, from, askedAfter }: Visit,
  events: readonly FindingEvent[],
): string[] {
  const asked = messages.filter(
    (each) => each.from === client && !each.lost && each.at <= from && each.at >= askedAfter - 1,
  );
  const isTold = events.some(
    ({ at, who, text }) => who === client && /^[A-Z]/.test(text) && asked.some((each) => isAt(each.at, at)),
  );
  return isTold || asked.length === 0 ? [] : [`what ${client} asked before it entered is missing`];
}

/** The errors that servers answered to the two: each code must be told. */
function errorProblems(
  { messages }: Evidence,
  visits: readonly Visit[],
  breach: Breach,
  events: readonly FindingEvent[],
): string[] {
  const clients = new Set(visits.map(({ client }) => client));
  const codes = new Set<string>();
  for (const { to, from, at, bytes, lost } of messages) {
    const code = /(?:^|\r\n)-([A-Z][A-Z0-9]+) /.exec(bytes)?.[1];
    if (code === undefined || lost || !clients.has(to) || at > breach.at || clients.has(from)) continue;
    // A script that is not known yet is sent once more, whole; and clients of a cluster go where they are sent.
    if (!/^(?:NOSCRIPT|MOVED|ASK)$/.test(code)) codes.add(code);
  }
  return [...codes]
    .slice(0, 3)
    .flatMap((code) =>
      events.some(({ text }) => text.startsWith(`answers ${code} `)) ? [] : [`the error ${code} is missing`],
    );
}

/** The last sentence must be about events that the story has. */
function lastProblems({ what, at }: Breach, events: readonly FindingEvent[]): string[] {
  const last = events.at(-1);
  if (last?.who !== '*' || !last.text.endsWith(what)) return ['the last event is not the broken promise'];
  const named = (pattern: RegExp): string | undefined => pattern.exec(what)?.[1];
  const needs: [string | undefined, RegExp, boolean][] = [
    [named(/(\S+) entered \S+ while/), /^enters /, false],
    [named(/while (?:the (?:reader|writer) )?(\S+) was still inside/), /^enters /, false],
    [named(/^(?:the (?:reader|writer) )?(\S+) wrote to/), /^writes to /, true],
    [named(/and then (\S+) wrote to it/), /^writes to /, true],
    [named(/^a write of (\S+) arrived/), /^its write arrives /, true],
  ];
  return needs.flatMap(([client, pattern, isNow]) => {
    if (client === undefined) return [];
    const has = events.some(
      (each) => each.who === client && pattern.test(each.text) && (!isNow || isAt(each.at, at)),
    );
    return has ? [] : [`the last sentence names an act of ${client} that is not there`];
  });
}
