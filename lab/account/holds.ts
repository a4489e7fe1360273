/** Reads from the writes and replies of a run which client believes that it holds which lock, and for how long. */
import type { TimelineHold } from '../../page/format.ts';
import type { RecordedRun } from '../timeline/record.ts';
import type { Calls, SentCommand } from './calls.ts';
import type { LockWrite } from './lock-write.ts';

/** A node's grant. */
interface Vote {
  readonly told: number;
  /** When the lease ends by the client's count. */
  readonly lease: number;
}

/** A lock of a client, while it is followed. */
interface FollowedLock {
  readonly client: string;
  /** The name of the lock. */
  readonly lock: string;
  readonly shared: boolean;
  readonly permit: boolean | undefined;
  /** The fence of the last grant. */
  fence?: number;
  readonly votes: Map<string, Vote>;
  hold: { -readonly [K in keyof TimelineHold]: TimelineHold[K] } | undefined;
  renewals: number[];
}

/** Every time in which a client believed that it held a lock, in the order in which they began. */
export function holdsOf(run: RecordedRun, calls: Calls, writes: readonly LockWrite[]): TimelineHold[] {
  const reader = new HoldReader(run);
  const denials = denialsIn(calls, writes);
  const events = [...writes, ...denials].map((event, i) => ({ event, i }));
  events.sort((a, b) => a.event.at - b.event.at || a.i - b.i);
  for (const { event } of events) {
    if ('asked' in event) reader.denied(event);
    else reader.wrote(event);
  }
  return reader.finished();
}

/** Works out what the clients believe, event by event. */
class HoldReader {
  readonly #run: RecordedRun;
  readonly #majority: number;
  readonly #claims = new Map<string, FollowedLock>();
  /** The client that wrote each holder. */
  readonly #setters = new Map<string, string>();
  readonly #holds: TimelineHold[] = [];
  readonly #deaths: RecordedRun['events'][number][];

  constructor(run: RecordedRun) {
    this.#run = run;
    this.#majority = (run.primaries >> 1) + 1;
    this.#deaths = run.events.filter(({ what }) => what === 'kill');
  }

  wrote(write: LockWrite): void {
    const { at, client, key, claim: id, holder, call } = write;
    this.#bury(at);
    if (write.renews) {
      // Locks that wait for replicas write another's deadline again before they refuse.
      if ((this.#setters.get(`${key} ${holder}`) ?? client) !== client) return;
    } else if (holder !== undefined && !write.gone) this.#setters.set(`${key} ${holder}`, client);
    const name = `${client} ${id}`;
    let claim = this.#claims.get(name);
    if (claim === undefined)
      this.#claims.set(name, (claim = { ...pick(write), votes: new Map(), hold: undefined, renewals: [] }));
    const sent = call?.sent ?? at;
    if (write.gone) {
      this.#withdraw(claim, write.node, sent, 'released');
      return;
    }
    const { arrived: told = null, text = '', message = -1 } = call?.reply ?? {};
    if (holder === undefined || write.lease === undefined || told === null) return;
    if (write.visits === true) {
      // The reply is [number, -1] for the first in the queue, whose number is its fence, and [-1, ...] for the others.
      const [, number = -1] = /^\[(\d+), /.exec(text) ?? [];
      if (Number(number) < 0) return;
      claim.fence = Number(number);
    }
    claim.votes.set(this.#voter(write.node), { told, lease: sent + write.lease * 1000 });
    this.#extend(claim, told, message);
  }

  denied({ at, node, client, claim: id, asked }: DeniedRequest): void {
    this.#bury(at);
    const claim = this.#claims.get(`${client} ${id}`);
    const vote = claim?.votes.get(this.#voter(node));
    // A lock that was granted after the request was sent is another one.
    if (claim !== undefined && vote !== undefined && vote.told <= asked)
      this.#withdraw(claim, node, at, 'denied');
  }

  /** The holds, when everything has been told. */
  finished(): TimelineHold[] {
    this.#bury(Infinity);
    for (const claim of this.#claims.values()) {
      const { hold } = claim;
      if (hold === undefined) continue;
      if (hold.lease !== null && hold.lease <= this.#run.end) this.#finish(claim, hold.lease, 'expired');
      else this.#holds.push({ ...hold, renewals: claim.renewals });
    }
    return this.#holds.sort((a, b) => a.from - b.from);
  }

  /** The node whose vote counts. A replica has none: after a promotion, its copy stands for the old primary's vote. */
  #voter(node: string): string {
    return this.#run.primaries > 1 ? node : '';
  }

  #withdraw(claim: FollowedLock, node: string, at: number, ended: NonNullable<TimelineHold['ended']>): void {
    claim.votes.delete(this.#voter(node));
    if (claim.votes.size < this.#majority) this.#finish(claim, at, ended);
  }

  #finish(claim: FollowedLock, to: number, ended: NonNullable<TimelineHold['ended']>): void {
    if (claim.hold === undefined) return;
    const lease = claim.hold.lease ?? Infinity;
    const expired = lease <= to;
    const end = expired ? lease : to;
    if (end >= claim.hold.from)
      this.#holds.push({
        ...{ ...claim.hold, renewals: claim.renewals, to: end, ended: expired ? 'expired' : ended },
      });
    claim.hold = undefined;
    claim.renewals = [];
  }

  #bury(upTo: number): void {
    const [death] = this.#deaths;
    if (death === undefined || death.at > upTo) return;
    this.#deaths.shift();
    for (const claim of this.#claims.values())
      if (claim.client === death.who) this.#finish(claim, death.at, 'died');
    this.#bury(upTo);
  }

  /** A vote has come in: the lock begins with the majority, and lasts while a majority of the leases does. */
  #extend(claim: FollowedLock, told: number, grant: number): void {
    const { votes, client, lock, shared, permit, fence } = claim;
    if (votes.size < this.#majority) return;
    const leases = [...votes.values()].map(({ lease }) => lease).sort((a, b) => b - a);
    const end = leases[this.#majority - 1] as number;
    const lease = Number.isFinite(end) ? end : null;
    if (claim.hold !== undefined && (claim.hold.lease ?? Infinity) < told)
      this.#finish(claim, told, 'expired');
    if (claim.hold?.grant === grant) {
      claim.hold.lease = lease;
      return;
    }
    if (claim.hold !== undefined) {
      if (votes.size === 1 || lease !== claim.hold.lease) claim.renewals.push(told);
      if (lease !== claim.hold.lease && claim.hold.firstLease === undefined)
        claim.hold.firstLease = claim.hold.lease;
      claim.hold.lease = lease;
      return;
    }
    const common = { client, key: lock, kind: 'lock' as const, ...(shared && { shared }) };
    const more = { ...(permit === true && { permit }), ...(fence !== undefined && { fence }) };
    claim.hold = { ...common, ...more, from: told, to: null, lease, renewals: [], grant };
  }
}

function pick({
  client,
  lock,
  shared,
  permit,
}: LockWrite): Pick<FollowedLock, 'client' | 'lock' | 'shared' | 'permit'> {
  return { client, lock, shared, permit };
}

/** A reply from which a client learns that it does not hold the lock any more. */
interface DeniedRequest {
  readonly at: number;
  readonly node: string;
  readonly client: string;
  readonly claim: string;
  /** When the request was sent. */
  readonly asked: number;
}

/** Finds the replies which say that a release or a renewal changed nothing: the request had the holder's token, or deleted the key. */
function denialsIn(calls: Calls, writes: readonly LockWrite[]): DeniedRequest[] {
  const holders = new Map<string, Map<string, LockWrite & { readonly holder: string }>>();
  for (const write of writes) {
    const { client, claim, holder, counted } = write;
    if (holder === undefined || counted === true) continue;
    const known = holders.get(client);
    const own = { ...write, holder };
    if (known === undefined) holders.set(client, new Map([[`${claim}\n${holder}`, own]]));
    else known.set(`${claim}\n${holder}`, own);
  }
  const wrote = new Set(writes.map(({ call }) => call));
  return calls.all.flatMap((call: SentCommand): DeniedRequest[] => {
    const { client, node, words, sent, reply } = call;
    if (reply === undefined || reply.arrived === null || wrote.has(call)) return [];
    const { arrived, text } = reply;
    if (!/^\[?(?:nil|0|-1)\]?$/.test(text)) return [];
    const isDelete = /^(?:del|unlink)$/i.test(words[0] ?? '');
    const own = [...(holders.get(client)?.values() ?? [])];
    // The script for permits grants with nil, also to a client that has the permit already.
    const named = own.filter(
      ({ key, claim, holder }) =>
        words.includes(key) && (isDelete || words.includes(holder)) && (claim === key || text !== 'nil'),
    );
    return [...new Set(named.map(({ claim }) => claim))].map((claim) => ({
      ...{ at: arrived, node, client, claim, asked: sent },
    }));
  });
}
