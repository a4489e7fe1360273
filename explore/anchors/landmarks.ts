/** The events of a played world after which a fault can be said to strike: what clients asked for and did at resources, and when. */

import { createHash } from 'node:crypto';
import type { TraceEvent } from '../../lab/time/event.ts';
import { asciiUpper, type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { clientsOf } from '../deployments.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Anchor, GRANT } from './anchor.ts';

/** An event, and when it happened. */
export interface Landmark {
  /** Milliseconds since the clients started. */
  readonly at: number;
  readonly anchor: Anchor;
}

/** A request of a client. Times are in microseconds since the world began. */
export interface ClientRequest {
  readonly client: string;
  /** The connection, as `A:50000>redis-1`. */
  readonly who: string;
  readonly what: string;
  readonly of: string;
  readonly nth: number;
  readonly sent: number;
  /** When a node took it; undefined for one that was lost on its way. */
  readonly executed: number | undefined;
  readonly answered: number | undefined;
}

/** The longest key that an anchor names. */
const LONGEST_KEY = 40;
/** A part of a key that is random, or counts something: it may be another one when the code has changed. */
const RANDOM = /[0-9a-f]{8,}|\d{4,}|[A-Za-z0-9+/=]{20,}|[^ -~]/i;
/** How much of a script's SHA-1 an anchor has, in hexadecimal digits. */
const DIGITS = 6;

/** The landmarks of a world, in order of time. */
export function landmarksOf(world: PlayedWorld): Landmark[] {
  const requests = requestsOf(world);
  const found = requests.flatMap((request) => stagesOf(request, world));
  for (const client of clientsOf(world.plan)) {
    const own = requests.filter((request) => request.client === client);
    for (const act of actsOf(world, client)) found.push(act, ...grantOf(act, own, world));
  }
  return found.sort((a, b) => a.at - b.at);
}

/** When a request was sent, executed and answered. */
function stagesOf(
  { client, what, of, nth, sent, executed, answered }: ClientRequest,
  { begunAt }: PlayedWorld,
): Landmark[] {
  return Object.entries({ sent, executed, answered }).flatMap(([side, micros]): Landmark[] => {
    if (micros === undefined) return [];
    const anchor = { client, what, of, nth, side: side as Anchor['side'], later: 0 };
    return [{ at: (micros - begunAt) / 1000, anchor }];
  });
}

/** The last request that was answered before an entry, under its name as a grant. */
function grantOf(
  { at, anchor: { client, what, of, nth } }: Landmark,
  own: readonly ClientRequest[],
  world: PlayedWorld,
): Landmark[] {
  if (what !== 'enters') return [];
  const entered = world.begunAt + at * 1000 + 0.5;
  const before = own.filter(({ answered = Infinity }) => answered <= entered);
  const last = before.reduce<ClientRequest | undefined>(
    (best, each) => ((each.answered as number) >= (best?.answered ?? 0) ? each : best),
    undefined,
  );
  return last === undefined
    ? []
    : stagesOf({ ...last, client, what: GRANT, of, nth, answered: undefined }, world);
}

/** What a client did at resources. */
function actsOf({ visits }: PlayedWorld, client: string): Landmark[] {
  const acts: { readonly at: number; readonly what: string; readonly of: string }[] = [];
  for (const { client: who, resource: of, from, to, ended, writes } of visits) {
    if (who !== client) continue;
    acts.push({ at: from, what: 'enters', of });
    for (const { at } of writes) acts.push({ at, what: 'writes', of });
    if (ended === 'left') acts.push({ at: to, what: 'leaves', of });
  }
  const count = counter();
  return acts
    .sort((a, b) => a.at - b.at)
    .map(({ at, what, of }): Landmark => {
      const anchor = { client, what, of, nth: count(`${what} ${of}`), side: '' as const, later: 0 };
      return { at, anchor };
    });
}

/** The requests of all clients since they started, in the order in which they were sent. */
export function requestsOf({ events, world, plan, begunAt, sets }: PlayedWorld): ClientRequest[] {
  const clients = new Set(clientsOf(plan));
  const nodes = new Set(sets.flatMap((set) => set.nodes.map(({ name }) => name)));
  const decoders = new Map<string, RequestDecoder>();
  /** When what each connection brought its client was sent and arrived. */
  const replies = new Map<string, { readonly sent: number; readonly at: number }[]>();
  const asked: (Omit<ClientRequest, 'nth' | 'answered'> & { readonly at: number })[] = [];
  const ask = (decoder: RequestDecoder, client: string, event: TraceEvent, isLost: boolean): void => {
    const { who, at, sent = at, detail } = event;
    decoder.write(toBuffer(detail));
    for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) {
      if (sent < begunAt) continue;
      asked.push({ ...labelOf(argv), client, who, sent, at, executed: isLost ? undefined : at });
    }
  };
  for (const event of events) {
    if (event.what !== 'data') continue;
    const [from = '', to = ''] = event.who.split('>');
    const [client, receiver] = [partyOf(from), partyOf(to)];
    if (clients.has(client) && nodes.has(to)) {
      let decoder = decoders.get(event.who);
      if (decoder === undefined) decoders.set(event.who, (decoder = newDecoder()));
      ask(decoder, client, event, false);
    } else if (nodes.has(from) && clients.has(receiver)) {
      const { at, sent = at } = event;
      const key = `${to}>${from}`;
      const known = replies.get(key);
      if (known === undefined) replies.set(key, [{ sent, at }]);
      else known.push({ sent, at });
    }
  }
  for (const event of world?.trace.strays ?? []) {
    const [from = '', to = ''] = event.who.split('>');
    const client = partyOf(from);
    if (clients.has(client) && nodes.has(to)) ask(newDecoder(), client, event, true);
  }
  const count = counter();
  return asked
    .sort((a, b) => a.sent - b.sent || a.at - b.at)
    .map(({ at: _, ...request }) => {
      const { client, what, of, who, executed } = request;
      const answered =
        executed === undefined ? undefined : replies.get(who)?.find(({ sent }) => sent >= executed)?.at;
      return { ...request, nth: count(`${client} ${what} ${of}`), answered };
    });
}

/** Counts things of one kind. */
export function counter(): (kind: string) => number {
  const counts = new Map<string, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count;
  };
}

function newDecoder(): RequestDecoder {
  return new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
}

/** The name of a party without the port that it dialled from. */
function partyOf(label: string): string {
  return label.split(':', 1)[0] as string;
}

/** What a request is called: its command and first key. A script has one name, whether it was sent by its text or by its digest. */
export function labelOf(argv: readonly Bytes[]): { readonly what: string; readonly of: string } {
  const name = asciiUpper(argv[0] ?? '').replace(/_RO$/, '');
  if (name === 'EVAL' || name === 'EVALSHA') {
    const sha = name === 'EVAL' ? shaOf(argv[1] ?? '') : (argv[1] ?? '').toLowerCase();
    return { what: `script-${sha.slice(0, DIGITS)}`, of: keyIn(argv[3]) };
  }
  if (name === 'FCALL') return { what: `FCALL-${argv[1] ?? ''}`, of: keyIn(argv[3]) };
  return { what: asciiUpper(argv[0] ?? ''), of: keyIn(argv[1]) };
}

function keyIn(word: Bytes = ''): string {
  return word.length > LONGEST_KEY || RANDOM.test(word) ? '' : word;
}

function shaOf(script: Bytes): string {
  return createHash('sha1').update(toBuffer(script)).digest('hex');
}
