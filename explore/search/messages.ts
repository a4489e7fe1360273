/** The messages of a played world, and the worlds in which one of them is late: other orders of what happens. */
import { clientsOf } from '../deployments.ts';
import type { PlannedFault } from '../faults/index.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE } from '../visit.ts';

/** The sender and the receiver of a message. */
interface Parties {
  readonly from: string;
  readonly to: string;
  /** The client at one of the ends; undefined between nodes. */
  readonly client: string | undefined;
}

/** Tells the ends of a connection by its label; undefined for what is no message of a client, a node or a resource. */
export function partiesOf({ plan, sets, distant }: PlayedWorld): (who: string) => Parties | undefined {
  const clients = new Set(clientsOf(plan));
  const hosts = new Set([...sets.flatMap(({ nodes }) => nodes.map(({ name }) => name)), ...(distant ?? [])]);
  const known = new Map<string, Parties | undefined>();
  return (who) => {
    if (known.has(who)) return known.get(who);
    const [from = '', to = ''] = who.split('>').map((end) => end.split(':', 1)[0] as string);
    const client = clients.has(from) ? from : clients.has(to) ? to : undefined;
    const isKnown = client !== undefined || (hosts.has(from) && hosts.has(to));
    const found = isKnown ? { from, to, client } : undefined;
    known.set(who, found);
    return found;
  };
}

/** A message of a client. Times are in milliseconds since the clients started. */
interface Message extends Parties {
  readonly client: string;
  readonly sent: number;
  readonly at: number;
}

/** The fault that makes one message late. */
const LATE = 'late-message';

/**
 * The plans in which one more message is late: a request behind the next requests that others send to the same node, a reply behind the
 * next acts of others at a resource and their next requests, past as many of them as there are other clients. Messages that change
 * places with no such event come in the same order as before.
 */
export function* laterOrders(world: PlayedWorld): Generator<WorldPlan, void> {
  const { plan, visits } = world;
  const past = Math.max(1, plan.clients.length - 1);
  const messages = messagesOf(world);
  const acts = visits
    .filter(({ client }) => client !== PROBE)
    .flatMap(({ client, from, to, writes }) =>
      [from, to, ...writes.map(({ at }) => at)].map((at) => ({ client, at })),
    );
  // Late messages are planned in the order in which they are sent. So no pair is played twice.
  const after = Math.max(-1, ...plan.faults.filter(({ kind }) => kind === LATE).map(({ at }) => at));
  for (const message of messages) {
    const { client, from, sent, at } = message;
    if (sent <= after) continue;
    const isRequest = from === client;
    const met = messages.filter(
      (other) =>
        other.client !== client && other.from === other.client && (!isRequest || other.to === message.to),
    );
    const times = [...met, ...(isRequest ? [] : acts.filter((act) => act.client !== client))]
      .map((other) => other.at)
      .filter((time) => time >= at && Number.isFinite(time));
    const next = [...new Set(times)].sort((a, b) => a - b).slice(0, past);
    for (const time of next) yield { ...plan, faults: [...plan.faults, lateBy(message, time - at)] };
  }
}

function lateBy({ client, from, sent }: Message, ms: number): PlannedFault {
  const by = toMicros(ms + 0.002);
  // What a client sends as it starts is late when the client starts late.
  if (sent === 0) return { kind: 'arrival', at: 0, on: client, ms: by, by: 0, how: '' };
  return {
    ...{ kind: LATE, at: toMicros(sent), on: client, ms: 0, by },
    how: from === client ? 'request' : 'reply',
  };
}

/** What clients and nodes sent each other, while clients were not told to end. */
function messagesOf(world: PlayedWorld): Message[] {
  const { events, begunAt, toldAt } = world;
  const parties = partiesOf(world);
  return events.flatMap(({ what, who, at, sent = at }): Message[] => {
    const ends = what === 'data' && sent >= begunAt ? parties(who) : undefined;
    const times = { sent: (sent - begunAt) / 1000, at: (at - begunAt) / 1000 };
    if (ends?.client === undefined || times.sent > toldAt) return [];
    return [{ ...ends, client: ends.client, ...times }];
  });
}
