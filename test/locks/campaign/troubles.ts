/** When a client could not reach a server, or a server had lost its keys, so that a hold may end by itself (`kept`). */
import type { Deed, Plan, Who } from './plan.ts';

/** Something that may end holds, from one moment of true time to another, in microseconds. */
export interface Trouble {
  /**
   * `cut`: requests or answers do not arrive. `lost`: the server has lost keys. `slow`: answers come late, but in time for
   * holds that were granted before.
   */
  readonly kind: 'cut' | 'lost' | 'slow';
  /** Only this client. */
  readonly client?: string;
  /** Only the servers of this set. */
  readonly set?: number;
  readonly from: number;
  to: number;
}

/** The parts of a holder that decide what it has to bear. */
interface StruckHolder {
  readonly actor: { readonly name: string };
  readonly rules: { readonly byOwner: boolean };
  /** False for a lease of a chosen length: nothing asks for the hold again until it is extended or released. */
  readonly renewed: boolean;
  readonly askedAt: number;
  readonly grantedAt: number;
}

/** A hold is asked for again after each third of its lease, so it bears to be cut off for this part of it. */
const BORNE = 0.2;

export class Troubles {
  readonly #all: Trouble[] = [];
  readonly #servers: number;
  readonly #leaseMs: number;
  readonly #maxHoldMs: number | undefined;
  readonly #isSession: boolean;

  constructor({ primaries, settings, kind }: Plan) {
    this.#servers = primaries;
    this.#leaseMs = settings.leaseMs ?? 30_000;
    this.#maxHoldMs = settings.maxHoldMs;
    this.#isSession = kind === 'session';
  }

  /** Begins a trouble, which ends when its `to` is set. */
  begin(trouble: Omit<Trouble, 'to'>): Trouble {
    const begun = { ...trouble, to: Number.POSITIVE_INFINITY };
    this.#all.push(begun);
    return begun;
  }

  /** Whether a holder may lose its lock now: too few servers could be asked during the last lease, or had the lock. */
  explain(holder: StruckHolder, now: number): boolean {
    if (this.#maxHoldMs !== undefined) {
      // A hold that several tasks share began with the first of them, and a session before its locks.
      if (this.#isSession || holder.rules.byOwner) return true;
      if (now - holder.askedAt >= this.#maxHoldMs * 1000) return true;
    }
    const servers = this.#servers;
    const needed = Math.floor(servers / 2) + 1;
    // A lock may be granted without the servers that answer last; its first renewal brings it to them, unless a former holder's lease
    // is still there: of a release that was refused or lost, or of a client that is dead. Leases are three times the usual one at most.
    const young = now - holder.grantedAt < (3 + 1 / 3) * this.#leaseMs * 1000;
    let bad = young ? servers - needed : 0;
    for (let set = 0; set < servers; set++) if (this.#struck(holder, set, now)) bad++;
    return bad > servers - needed;
  }

  #struck(holder: StruckHolder, set: number, now: number): boolean {
    const since = now - this.#leaseMs * 1000;
    const here = this.#all.filter(
      (each) =>
        each.from <= now &&
        (each.client ?? holder.actor.name) === holder.actor.name &&
        (each.set ?? set) === set,
    );
    // A hold that is not renewed may learn of it only when it is extended.
    const lostSince = holder.renewed ? since : Math.min(since, holder.grantedAt);
    const hasLost = here.some(({ kind, to }) => kind === 'lost' && to >= lostSince);
    if (hasLost) return true;
    const near = here.filter(({ to }) => to >= since);
    const slow = near.filter(({ kind }) => kind === 'slow');
    if (slow.some(({ from }) => from <= holder.grantedAt)) return true;
    const cuts = near.filter(({ kind }) => kind === 'cut');
    if (cuts.length > 0 && slow.length > 0) return true;
    return lengthOf(cuts, since, now) >= BORNE * this.#leaseMs * 1000;
  }
}

/** How long at least one of them lasted within a span. */
function lengthOf(troubles: readonly Trouble[], since: number, now: number): number {
  let sum = 0;
  let end = since;
  for (const { from, to } of [...troubles].sort((a, b) => a.from - b.from)) {
    const until = Math.min(to, now);
    if (until > end) sum += until - Math.max(from, end);
    end = Math.max(end, until);
  }
  return sum;
}

/** Where a deed strikes. */
export interface Place {
  client(who: Who): string;
  set(node: number): number;
  /** Whether grants need replicas. */
  readonly replicated: boolean;
}

/** What a deed causes, and for how many milliseconds after its end: a connection that broke needs time to come back. */
export interface Effect {
  readonly trouble: Omit<Trouble, 'from' | 'to'>;
  readonly afterMs: number;
}

/** A library pauses before it connects again, for longer after each time that it fails. */
const RECONNECTS_IN = 1000;
const RECONNECTS_AT_LAST_IN = 2500;
/** Messages that were held arrive within this time after all. */
const ARRIVES_IN = 50;

/** The troubles that a deed causes. */
export function effectsOf(deed: Deed, { client, set, replicated }: Place): Effect[] {
  const cut = (afterMs: number, where: { client?: string; set?: number } = {}): Effect[] => [
    { trouble: { kind: 'cut', ...where }, afterMs },
  ];
  const at = (who: Who) => ({ client: client(who), set: set(who.node) });
  const lost = (afterMs: number, where: { set?: number } = {}): Effect[] => [
    { trouble: { kind: 'lost', ...where }, afterMs },
  ];
  switch (deed.do) {
    case 'hold client':
      return cut(ARRIVES_IN, at(deed.who));
    case 'lose messages':
    case 'reset client':
      return cut(RECONNECTS_IN, at(deed.who));
    case 'delay client':
      return cut(ARRIVES_IN + 2 * deed.byMs, at(deed.who));
    case 'slow client':
      return [{ trouble: { kind: 'slow', ...at(deed.who) }, afterMs: ARRIVES_IN + 2 * deed.byMs }];
    case 'stall client':
      return cut(ARRIVES_IN, { client: client(deed.who) });
    case 'stall node':
      return cut(RECONNECTS_IN, { set: set(deed.node) });
    case 'restart primary':
      return cut(RECONNECTS_AT_LAST_IN, { set: set(deed.node) });
    case 'restart empty':
      return lost(RECONNECTS_AT_LAST_IN, { set: set(deed.node) });
    case 'failover':
      return lost(RECONNECTS_AT_LAST_IN);
    case 'step node clocks':
      return deed.byMs > 0 ? lost(0) : [];
    case 'hold replication':
    case 'delay replication':
    case 'restart replica':
      return replicated ? cut(RECONNECTS_AT_LAST_IN) : [];
    case 'lose the locks':
      return lost(0);
    default:
      return [];
  }
}
