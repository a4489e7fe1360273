/**
 * The watchdog: renews all holds after each third of their lease, many in one script.
 *
 * A hold leaves the watchdog in the same turn in which its release begins, and the renewing script changes only keys with
 * the hold's token. So nothing is renewed after its release, and no hold of another owner is.
 */

import { renewScript } from '../scripts/renew.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import { Chain, ChainLink } from '../timing/chain.ts';
import { elapsed } from '../timing/clock.ts';
import { CallbackDeadline, Deadlines } from '../timing/deadlines.ts';
import type { Hold, Renewer } from './hold.ts';

const BATCH = 100;
/** Holds due within this part of their lease are renewed together with those due now. */
const TOGETHER = 1 / 12;

/** A hold that the watchdog renews, as long as the entry is in the chain. */
export class RenewalEntry extends ChainLink {
  readonly hold: Hold;
  readonly since: number;
  dueAt: number;
  /** The last renewal, until it is decided. */
  last: Ballot | undefined;

  constructor(hold: Hold, since: number) {
    super();
    this.hold = hold;
    this.since = since;
    this.dueAt = since + hold.leaseMs / 3;
  }

  /** From when it may be renewed. Others that are due are no reason to repeat a renewal which may still be answered. */
  get mayRenewAt(): number {
    return this.last ? this.dueAt : this.dueAt - this.hold.leaseMs * TOGETHER;
  }
}

/** The replies of the servers of one hold to one renewal. They count whenever they come. */
interface Ballot {
  readonly sentAt: number;
  readonly leaseMs: number;
  yes: number;
  /** How many servers do not have the hold, and those of them that were not yet asked to take it again. */
  no: number;
  readonly missing: LockServer[];
  /** How many servers have not replied. */
  open: number;
}

/** How long to wait for a reply before the renewal is repeated, in milliseconds: it, or its reply, may be lost. */
const patienceMs = (leaseMs: number, requestTimeoutMs = Number.POSITIVE_INFINITY): number =>
  Math.min(requestTimeoutMs, Math.max(20, leaseMs / 6));

/** The pause before a renewal that failed is repeated, in milliseconds. */
const retryPauseMs = (leaseMs: number): number => Math.max(10, leaseMs / 20);

/** Renews the holds of one `createLocks` call. */
export class Watchdog implements Renewer {
  readonly #entries = new Chain<RenewalEntry>();
  readonly #clock = new Deadlines(false);
  #tickAt: CallbackDeadline | undefined;
  readonly #maxHoldMs: number;
  readonly #replication: ReplicaRequirement | undefined;
  #closed = false;

  /**
   * @param maxHoldMs how long a hold is renewed at most, in milliseconds
   * @param replication the replicas that must acknowledge renewals on one server; a Redlock's copies are its servers
   */
  constructor(maxHoldMs = Number.POSITIVE_INFINITY, replication?: ReplicaRequirement) {
    this.#maxHoldMs = maxHoldMs;
    this.#replication = replication;
  }

  /** Renews the hold, whose lease may have begun at `since`, until the returned entry is unlinked. */
  add(hold: Hold, since: number): RenewalEntry {
    const entry = new RenewalEntry(hold, since);
    if (this.#closed) return entry; // A lock granted after close() ends with its lease.
    this.#entries.add(entry);
    this.#wakeAt(entry.dueAt);
    return entry;
  }

  close(): void {
    this.#closed = true;
    this.#entries.clear();
    this.#clock.clear();
    this.#tickAt = undefined;
  }

  #wakeAt(at: number): void {
    if (this.#tickAt && this.#tickAt.at <= at) return;
    if (this.#tickAt) this.#clock.remove(this.#tickAt);
    this.#tickAt = new CallbackDeadline(at, () => this.#tick());
    this.#clock.add(this.#tickAt);
  }

  #tick(): void {
    this.#tickAt = undefined;
    const now = elapsed();
    for (const entry of this.#entries.members()) {
      if (now - entry.since >= this.#maxHoldMs) entry.unlink(); // It ends with its present lease.
    }
    const due = this.#entries.members().filter(({ mayRenewAt }) => mayRenewAt <= now);
    if (due.length > 0) this.#renew(due);
    this.#plan();
  }

  #plan(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#entries.members()) if (dueAt < next) next = dueAt;
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  #renew(entries: RenewalEntry[]): void {
    const sentAt = elapsed();
    const repeated = new Set(entries.filter(({ last }) => last !== undefined));
    const byServer = new Map<LockServer, RenewalEntry[]>();
    for (const entry of entries) {
      const { leaseMs, spec } = entry.hold;
      const { servers } = spec;
      // Some server is silent. With the vote of one that did not have the hold, the others may be enough.
      if (entry.last !== undefined) restore(entry.hold, entry.last);
      entry.last = { sentAt, leaseMs, yes: 0, no: 0, missing: [], open: servers.length };
      entry.dueAt = sentAt + patienceMs(leaseMs, servers[0]!.requestTimeoutMs) + retryPauseMs(leaseMs);
      for (const server of servers) {
        const group = byServer.get(server);
        if (group) group.push(entry);
        else byServer.set(server, [entry]);
      }
    }
    for (const [server, group] of byServer) {
      const isAlone = ({ hold }: RenewalEntry): boolean => hold.spec.servers.length === 1;
      const alone = this.#replication ? group.filter(isAlone) : [];
      const rest = this.#replication ? group.filter((entry) => !isAlone(entry)) : group;
      this.#renewAll(server, alone, repeated, this.#replication);
      this.#renewAll(server, rest, repeated);
    }
  }

  #renewAll(
    server: LockServer,
    entries: RenewalEntry[],
    repeated: ReadonlySet<RenewalEntry>,
    replication?: ReplicaRequirement,
  ): void {
    for (const sameSlot of server.groupBySlot(
      entries,
      ({ hold }) => hold.spec.callbacks.renewal().keys[0]!,
    )) {
      for (let at = 0; at < sameSlot.length; at += BATCH) {
        const batch = sameSlot.slice(at, at + BATCH);
        // If the server does not know the script, there is no time to learn it from an answer that is late.
        const byText = batch.some((entry) => repeated.has(entry));
        void this.#renewOn(server, batch, byText, replication);
      }
    }
  }

  /** Renews entries on one server. Each is settled as soon as its outcome is decided, even if other servers are silent. */
  async #renewOn(
    server: LockServer,
    entries: RenewalEntry[],
    byText: boolean,
    replication: ReplicaRequirement | undefined,
  ): Promise<void> {
    const ballots = entries.map(({ last }) => last!);
    const replies = await renew(server, entries, byText, replication);
    for (const [index, entry] of entries.entries()) {
      this.#count(entry, ballots[index]!, server, replies?.[index]);
    }
    this.#plan();
  }

  /** Counts a server's reply. It proves what it says even if it is late, and later renewals were already sent. */
  #count(entry: RenewalEntry, ballot: Ballot, server: LockServer, vote: boolean | undefined): void {
    const { hold } = entry;
    const { servers, quorum } = hold.spec;
    ballot.open--;
    if (vote === true) ballot.yes++;
    if (vote === false) {
      ballot.no++;
      ballot.missing.push(server);
    }
    const confirmed = ballot.yes >= quorum;
    const refuted = ballot.no > servers.length - quorum;
    if (!confirmed && !refuted && ballot.open > 0) return;
    if (entry.last === ballot) {
      entry.last = undefined;
      // No reply, or too few copies: the old lease stays valid. The hold's own timer ends it.
      entry.dueAt = confirmed ? ballot.sentAt + hold.leaseMs / 3 : elapsed() + retryPauseMs(hold.leaseMs);
    }
    if (!entry.linked) return; // Released or lost in the meantime.
    if (!confirmed && refuted) {
      hold.lose('the server does not know it any more');
      return;
    }
    if (confirmed) hold.prolong(ballot.sentAt, ballot.leaseMs);
    restore(hold, ballot);
  }
}

/**
 * Asks the servers that did not have the hold to take it again. From now on their answers of before prove nothing: with a late answer
 * of another server, they would refute a hold that a majority has had all the time.
 */
function restore({ spec }: Hold, ballot: Ballot): void {
  const { restore } = spec.callbacks;
  if (restore === undefined) return;
  ballot.no -= ballot.missing.length;
  for (const server of ballot.missing.splice(0)) restore(server);
}

/**
 * One server's reply to the renewal of each entry. Undefined counts neither way: the server did not reply, or too few
 * replicas acknowledged the renewal. A reply is of use until the renewed lease would be over.
 */
async function renew(
  server: LockServer,
  entries: RenewalEntry[],
  byText: boolean,
  replication: ReplicaRequirement | undefined,
): Promise<(boolean | undefined)[] | undefined> {
  const keys: string[] = [];
  const args: (string | number)[] = [];
  let longestMs = 0;
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const { hold } of entries) {
    const renewal = hold.spec.callbacks.renewal();
    keys.push(...renewal.keys);
    args.push(renewal.kind, renewal.keys.length, renewal.token, hold.serverLeaseMs(hold.leaseMs));
    longestMs = Math.max(longestMs, hold.leaseMs);
    shortestMs = Math.min(shortestMs, hold.leaseMs);
  }
  const options = { timeoutMs: longestMs, byText, background: true };
  try {
    if (!replication) return votes(await server.run(renewScript, keys, args, options), true);
    // WAIT blocks the connection until it is answered.
    const timeoutMs = Math.min(replication.timeoutMs, patienceMs(shortestMs, server.requestTimeoutMs));
    const { reply, copies, needed } = await server.runReplicated(
      renewScript,
      keys,
      args,
      { ...replication, timeoutMs },
      { ...options, renews: true },
    );
    if (copies < needed) for (const { hold } of entries) hold.renewalMissedReplicas(copies, needed);
    return votes(reply, copies >= needed);
  } catch {
    return undefined; // No reply or an error does not prove that a hold is lost.
  }
}

/** With too few copies, a hold that exists is neither confirmed nor lost. */
const votes = (reply: unknown, copied: boolean): (boolean | undefined)[] =>
  (reply as unknown[]).map((each) => (Number(each) === 1 ? copied || undefined : false));
