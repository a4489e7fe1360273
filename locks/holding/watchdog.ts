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
  busy = false;

  constructor(hold: Hold, since: number) {
    super();
    this.hold = hold;
    this.since = since;
    this.dueAt = since + hold.leaseMs / 3;
  }
}

/** The replies of the servers of one hold to a renewal. */
interface Ballot {
  yes: number;
  no: number;
  /** Servers that have not replied. */
  open: number;
}

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
    const due = this.#entries
      .members()
      .filter(({ hold, dueAt, busy }) => !busy && dueAt - hold.leaseMs * TOGETHER <= now);
    if (due.length > 0) this.#renew(due);
    this.#plan();
  }

  #plan(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt, busy } of this.#entries.members()) if (!busy && dueAt < next) next = dueAt;
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  #renew(entries: RenewalEntry[]): void {
    const sentAt = elapsed();
    const ballots = new Map<RenewalEntry, Ballot>();
    const byServer = new Map<LockServer, RenewalEntry[]>();
    for (const entry of entries) {
      entry.busy = true;
      const { servers } = entry.hold.spec;
      ballots.set(entry, { yes: 0, no: 0, open: servers.length });
      for (const server of servers) {
        const group = byServer.get(server);
        if (group) group.push(entry);
        else byServer.set(server, [entry]);
      }
    }
    for (const [server, group] of byServer) {
      if (!this.#replication) {
        this.#renewAll(server, group, ballots, sentAt);
        continue;
      }
      const isAlone = ({ hold }: RenewalEntry): boolean => hold.spec.servers.length === 1;
      const [alone, shared] = [group.filter(isAlone), group.filter((entry) => !isAlone(entry))];
      this.#renewAll(server, alone, ballots, sentAt, this.#replication);
      this.#renewAll(server, shared, ballots, sentAt);
    }
  }

  #renewAll(
    server: LockServer,
    entries: RenewalEntry[],
    ballots: Map<RenewalEntry, Ballot>,
    sentAt: number,
    replication?: ReplicaRequirement,
  ): void {
    for (const sameSlot of server.groupBySlot(
      entries,
      ({ hold }) => hold.spec.callbacks.renewal().keys[0]!,
    )) {
      for (let at = 0; at < sameSlot.length; at += BATCH) {
        void this.#renewOn(server, sameSlot.slice(at, at + BATCH), ballots, sentAt, replication);
      }
    }
  }

  /** Renews entries on one server. Each is settled as soon as its outcome is decided, even if other servers are silent. */
  async #renewOn(
    server: LockServer,
    entries: RenewalEntry[],
    ballots: Map<RenewalEntry, Ballot>,
    sentAt: number,
    replication: ReplicaRequirement | undefined,
  ): Promise<void> {
    const replies = await renew(server, entries, replication);
    for (const [index, entry] of entries.entries()) {
      const ballot = ballots.get(entry);
      if (!ballot) continue; // Decided.
      ballot.open--;
      const vote = replies?.[index];
      if (vote === true) ballot.yes++;
      else if (vote === false) ballot.no++;
      const { servers, quorum } = entry.hold.spec;
      if (ballot.open > 0 && ballot.yes < quorum && ballot.no <= servers.length - quorum) continue;
      ballots.delete(entry);
      this.#settle(entry, ballot, sentAt);
    }
    this.#plan();
  }

  #settle(entry: RenewalEntry, { yes, no }: Ballot, sentAt: number): void {
    const { hold } = entry;
    entry.busy = false;
    if (!entry.linked) return; // Released or lost meanwhile.
    const { servers, quorum } = hold.spec;
    if (yes >= quorum) {
      hold.prolong(sentAt, hold.leaseMs);
      entry.dueAt = sentAt + hold.leaseMs / 3;
    } else if (no > servers.length - quorum) {
      hold.lose('the server does not know it any more');
    } else {
      // No reply, or too few copies: the old lease stays valid and the renewal is retried soon. The hold's own timer ends it.
      entry.dueAt = elapsed() + Math.max(10, hold.leaseMs / 20);
    }
  }
}

/**
 * One server's reply to the renewal of each entry. Undefined counts neither way: the server did not reply, or too few
 * replicas acknowledged the renewal.
 */
async function renew(
  server: LockServer,
  entries: RenewalEntry[],
  replication: ReplicaRequirement | undefined,
): Promise<(boolean | undefined)[] | undefined> {
  const keys: string[] = [];
  const args: (string | number)[] = [];
  let patience = server.requestTimeoutMs;
  for (const { hold } of entries) {
    const renewal = hold.spec.callbacks.renewal();
    keys.push(...renewal.keys);
    args.push(renewal.kind, renewal.keys.length, renewal.token, hold.serverLeaseMs(hold.leaseMs));
    patience = Math.min(patience, Math.max(20, hold.leaseMs / 6));
  }
  try {
    if (!replication) {
      return votes(await server.run(renewScript, keys, args, patience), true);
    }
    const timeoutMs = Math.min(replication.timeoutMs, patience); // WAIT blocks the connection meanwhile.
    const wanted = { ...replication, timeoutMs };
    const { reply, copies, needed } = await server.runReplicated(renewScript, keys, args, wanted, patience);
    if (copies < needed) for (const { hold } of entries) hold.renewalMissedReplicas(copies, needed);
    return votes(reply, copies >= needed);
  } catch {
    return undefined; // No reply or an error does not prove that a hold is lost.
  }
}

/** With too few copies, a hold that exists is neither confirmed nor lost. */
const votes = (reply: unknown, copied: boolean): (boolean | undefined)[] =>
  (reply as unknown[]).map((each) => (Number(each) === 1 ? copied || undefined : false));
