/** The states that a world passes through, abstracted from its trace: when two are the same, a fault does the same to both. */

import { clientsOf } from '../deployments.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Visit } from '../visit.ts';

/** What one client is doing, as far as its messages and visits show it. */
interface ClientState {
  readonly visits: readonly Visit[];
  asked: string;
  told: string;
  under: number;
  since: string | number;
  rounds: number;
  /** All of it, put together when it has changed. */
  text: string;
}

/** A moment at which a fault may strike, and the state of the world just before it. */
export interface Moment {
  /** Milliseconds since the clients started. */
  readonly at: number;
  /** The state of each client, by name. */
  readonly clients: ReadonlyMap<string, string>;
  /** The state of everything else. */
  readonly rest: string;
}

/** How finely the time inside a resource is told apart, as a part of the lease. */
const PARTS = 4;

/** The moments at which something happens to a client or a replica, with the states before them. */
export function momentsOf(world: PlayedWorld, leaseMs: number): Moment[] {
  const tracker = new StateTracker(world, leaseMs);
  const found: Moment[] = [];
  let last = -1;
  for (const event of world.events) {
    if (event.at < world.begunAt) continue;
    const at = (event.at - world.begunAt) / 1000;
    const isMoment = event.what === 'data' || (event.what === 'open' && tracker.opensWrite(event.who));
    if (isMoment && at !== last && tracker.matters(event.who, event.detail)) {
      found.push({ at, clients: tracker.clientStates(at), rest: tracker.rest() });
      last = at;
    }
    if (event.what === 'data') tracker.take(event.who, event.detail);
  }
  for (const { from, to } of world.visits) {
    // In the middle of a visit as well: nothing arrives while a client works.
    const at = Math.round(((from + Math.min(to, world.span)) / 2) * 1000) / 1000;
    const before = found.findLast((moment) => moment.at <= at);
    if (before !== undefined) found.push({ ...before, at, rest: `${before.rest} inside` });
  }
  return found.sort((a, b) => a.at - b.at);
}

/** The states of the world, as texts: the measure of what an exploration has seen. */
export function statesOf(world: PlayedWorld, leaseMs: number): Set<string> {
  const tracker = new StateTracker(world, leaseMs);
  const found = new Set<string>();
  for (const event of world.events) {
    if (event.at < world.begunAt || event.what !== 'data') continue;
    if (!tracker.matters(event.who, event.detail)) continue;
    tracker.take(event.who, event.detail);
    const all = tracker.texts((event.at - world.begunAt) / 1000);
    if (all !== undefined) found.add(all.sort().join(' '));
  }
  return found;
}

/**
 * A moment's state as a fault on `on` sees it. Clients run the same code, so that their names do not matter, but which of
 * them an earlier fault has struck does.
 */
export function stateText({ clients, rest }: Moment, on: string, struck = ''): string {
  const mark = (name: string): string => `${name === struck ? '!' : ''}${name === on ? '*' : ''}`;
  const states = [...clients].map(([name, state]) => `${mark(name)}${state}`);
  return `${states.sort().join(' ')} ${rest}`;
}

class StateTracker {
  readonly #leaseMs: number;
  readonly #clients = new Map<string, ClientState>();
  readonly #nodes: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  /** The two ends of each connection, by its label: most messages of a world share a few connections. */
  readonly #ends = new Map<string, readonly [from: string, to: string]>();
  #stream = '';

  constructor(world: PlayedWorld, leaseMs: number) {
    this.#leaseMs = leaseMs;
    this.#nodes = new Set(world.sets.flatMap(({ nodes }) => nodes.map(({ name }) => name)));
    this.#resources = world.distant ?? new Set();
    for (const name of clientsOf(world.plan)) {
      const visits = world.visits.filter(({ client }) => client === name);
      const nothing = { asked: '', told: '', under: 0, since: '-', rounds: 0, text: '' };
      this.#clients.set(name, { visits, ...nothing });
    }
  }

  #endsOf(who: string): readonly [from: string, to: string] {
    let found = this.#ends.get(who);
    if (found === undefined) this.#ends.set(who, (found = ends(who)));
    return found;
  }

  /** True for a connection to a resource: a client that is struck here has looked at its lock, and has not written yet. */
  opensWrite(who: string): boolean {
    return this.#resources.has(this.#endsOf(who)[1]);
  }

  /** True for messages between clients and nodes, and for writes on their way to a replica. */
  matters(who: string, detail: string): boolean {
    const [from, to] = this.#endsOf(who);
    if (this.#clients.has(from) || this.#clients.has(to)) return true;
    return this.#nodes.has(from) && this.#nodes.has(to) && !/REPLCONF|PING|PSYNC|^[+$-]|^RCmb/.test(detail);
  }

  take(who: string, detail: string): void {
    const [from, to] = this.#endsOf(who);
    const sender = this.#clients.get(from);
    const receiver = this.#clients.get(to);
    if (sender !== undefined) {
      sender.asked = commandOf(detail);
      sender.under++;
      sender.text = '';
    } else if (receiver !== undefined) {
      receiver.told = detail.slice(0, 8).replace(/\d+/g, '#');
      receiver.under = 0;
      receiver.text = '';
    } else this.#stream = commandOf(detail);
  }

  clientStates(at: number): Map<string, string> {
    this.#move(at);
    return new Map([...this.#clients].map(([name, { text }]) => [name, text]));
  }

  /** The clients' states; undefined when they are those of the last call. */
  texts(at: number): string[] | undefined {
    return this.#move(at) ? Array.from(this.#clients.values(), ({ text }) => text) : undefined;
  }

  /** Brings the states to this moment. Returns true when one of them has changed. */
  #move(at: number): boolean {
    let changed = false;
    for (const client of this.#clients.values()) {
      let inside: Visit | undefined;
      let rounds = 0;
      for (const visit of client.visits) {
        if (visit.to < at) rounds++;
        else if (inside === undefined && visit.from < at) inside = visit;
      }
      const since =
        inside === undefined
          ? '-'
          : Math.min(PARTS, Math.floor(((at - inside.from) / this.#leaseMs) * PARTS));
      if (client.text !== '' && since === client.since && rounds === client.rounds) continue;
      client.since = since;
      client.rounds = rounds;
      const { asked, told, under } = client;
      client.text = `${asked}/${told}/${Math.min(2, under)}/${since}/${Math.min(2, rounds)}`;
      changed = true;
    }
    return changed;
  }

  rest(): string {
    return this.#stream;
  }
}

function ends(who: string): [from: string, to: string] {
  const [from = '', to = ''] = who.split('>');
  return [bare(from), bare(to)];
}

function bare(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(0, colon);
}

/** The first word of a request, which may be in the middle of the message of a pipeline. */
function commandOf(detail: string): string {
  const start = detail.indexOf('\r\n', detail.indexOf('$'));
  return start === -1 ? '' : detail.slice(start + 2, start + 9);
}
