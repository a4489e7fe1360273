/** Tells whether operations of two clients on one key or resource overlap: then they contend for something. */
import { clientsOf } from './deployments.ts';
import type { PlayedWorld } from './played-world.ts';
import { PROBE } from './visit.ts';

/** A request that was sent, up to the reply. */
interface KeyRequest {
  readonly client: string;
  readonly keys: ReadonlySet<string>;
  readonly sent: number;
  /** When the reply arrived; Infinity before. */
  until: number;
}

/** The words of a request, as RESP has them. */
const WORD = /\$\d+\r\n([^\r]*)\r\n/g;

/** True when operations of two clients on one key or resource overlap, or one of them waited while the other was inside. */
export function isContended(world: PlayedWorld): boolean {
  return hasWaited(world) || operationsOverlap(world) || visitsOverlap(world) || requestsOverlap(world);
}

/** True when a client asked, another one was inside and left, and then the first one entered. */
function hasWaited({ visits }: PlayedWorld): boolean {
  return visits.some((visit) =>
    visits.some(
      (other) =>
        other.client !== visit.client &&
        other.from < other.to &&
        other.from >= visit.askedAfter &&
        other.to <= visit.from,
    ),
  );
}

/** True when operations of two clients on one object overlapped. */
function operationsOverlap({ operations }: PlayedWorld): boolean {
  return operations.some((one) =>
    operations.some(
      (other) =>
        one.of === other.of && one.client !== other.client && one.from <= other.from && other.from < one.to,
    ),
  );
}

function visitsOverlap({ visits }: PlayedWorld): boolean {
  const own = visits.filter(({ client }) => client !== PROBE);
  return own.some((one, i) =>
    own
      .slice(i + 1)
      .some(
        (other) =>
          one.client !== other.client &&
          one.resource === other.resource &&
          other.from < one.to &&
          one.from < other.to,
      ),
  );
}

/** A key is what some client has written in this world: the other words of requests are no keys, or nobody changes them. */
function requestsOverlap({ plan, world, events, begunAt }: PlayedWorld): boolean {
  if (world === undefined) return false;
  const written = new Set(
    world.writes.flatMap(({ write: { key, client } }) => (client === undefined ? [] : [key])),
  );
  const clients = new Set(clientsOf(plan));
  const last = new Map<string, KeyRequest>();
  const all: KeyRequest[] = [];
  for (const { who, what, detail, sent, at } of events) {
    if (what !== 'data' || at < begunAt) continue;
    const [from = '', to = ''] = who.split('>');
    const client = from.split(':', 1)[0] ?? '';
    if (clients.has(client) && from !== client) {
      const words = [...detail.matchAll(WORD)].slice(1).map(([, word]) => word ?? '');
      const keys = new Set(words.filter((word) => written.has(word)));
      const operation: KeyRequest = { client, keys, sent: sent ?? at, until: Infinity };
      if (keys.size === 0) continue;
      if (all.some((other) => meets(operation, other))) return true;
      all.push(operation);
      last.set(from, operation);
    } else {
      const answered = last.get(to);
      if (answered !== undefined && answered.until === Infinity) answered.until = at;
    }
  }
  return false;
}

function meets(one: KeyRequest, other: KeyRequest): boolean {
  return (
    one.client !== other.client && other.until > one.sent && [...one.keys].some((key) => other.keys.has(key))
  );
}
