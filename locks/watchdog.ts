/**
 * Renews the holds of all locks every third of their lease, many in one script, while their holders live.
 *
 * A hold leaves the watchdog in the same turn in which its release begins, and the renewing script only touches what
 * carries the hold's token: nothing is renewed after release, nor on somebody else's behalf.
 */
import { type Deadline, Deadlines } from './deadlines.ts';
import type { Hold } from './hold.ts';
import { renewScript } from './scripts/renew.ts';
import type { LockServer } from './server.ts';

const BATCH = 100;
/** Holds due within this part of their lease are renewed together with those due now. */
const TOGETHER = 1 / 12;

interface Entry {
  readonly hold: Hold;
  readonly since: number;
  dueAt: number;
  busy: boolean;
}

interface Ballot {
  yes: number;
  no: number;
}

export class Watchdog {
  readonly #entries = new Map<Hold, Entry>();
  readonly #clock = new Deadlines(false);
  #tickAt: Deadline | undefined;
  readonly #maxHoldMs: number;

  /** @param maxHoldMs how long a hold is renewed at most, in milliseconds */
  constructor(maxHoldMs = Number.POSITIVE_INFINITY) {
    this.#maxHoldMs = maxHoldMs;
  }

  add(hold: Hold): void {
    const since = Date.now();
    const dueAt = since + hold.leaseMs / 3;
    this.#entries.set(hold, { hold, since, dueAt, busy: false });
    this.#wakeAt(dueAt);
  }

  remove(hold: Hold): void {
    this.#entries.delete(hold);
  }

  close(): void {
    this.#entries.clear();
    this.#clock.clear();
    this.#tickAt = undefined;
  }

  #wakeAt(at: number): void {
    if (this.#tickAt && this.#tickAt.at <= at) return;
    if (this.#tickAt) this.#clock.remove(this.#tickAt);
    this.#tickAt = { at, due: () => this.#tick() };
    this.#clock.add(this.#tickAt);
  }

  #tick(): void {
    this.#tickAt = undefined;
    const now = Date.now();
    for (const { hold, since } of this.#entries.values()) {
      if (now - since >= this.#maxHoldMs) this.#entries.delete(hold); // It ends with the lease it has.
    }
    const due = [...this.#entries.values()].filter(
      ({ hold, dueAt, busy }) => !busy && dueAt - hold.leaseMs * TOGETHER <= now,
    );
    if (due.length > 0) void this.#renew(due);
    this.#plan();
  }

  #plan(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt, busy } of this.#entries.values()) if (!busy && dueAt < next) next = dueAt;
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  async #renew(entries: Entry[]): Promise<void> {
    const sentAt = Date.now();
    const ballots = new Map<Entry, Ballot>(entries.map((entry) => [entry, { yes: 0, no: 0 }]));
    const byServer = new Map<LockServer, Entry[]>();
    for (const entry of entries) {
      entry.busy = true;
      for (const server of entry.hold.spec.servers) {
        const group = byServer.get(server);
        if (group) group.push(entry);
        else byServer.set(server, [entry]);
      }
    }
    const scripts: Promise<void>[] = [];
    for (const [server, group] of byServer) {
      for (const sameSlot of server.groupBySlot(group, ({ hold }) => hold.spec.renewal().keys[0]!)) {
        for (let at = 0; at < sameSlot.length; at += BATCH) {
          scripts.push(renewOn(server, sameSlot.slice(at, at + BATCH), ballots));
        }
      }
    }
    await Promise.all(scripts);
    for (const [entry, ballot] of ballots) this.#judge(entry, ballot, sentAt);
    this.#plan();
  }

  #judge(entry: Entry, { yes, no }: Ballot, sentAt: number): void {
    const { hold } = entry;
    entry.busy = false;
    if (this.#entries.get(hold) !== entry) return; // Released or lost meanwhile.
    const { servers, quorum } = hold.spec;
    if (yes >= quorum) {
      hold.prolong(sentAt, hold.leaseMs);
      entry.dueAt = sentAt + hold.leaseMs / 3;
    } else if (no > servers.length - quorum) {
      hold.lose('the server does not know it any more');
    } else {
      // No answer: the old deadline stands, and the next try comes soon. The hold's own timer ends it in time.
      entry.dueAt = Date.now() + Math.max(10, hold.leaseMs / 20);
    }
  }
}

/** Renews entries on one server; an answer that does not come is no vote. */
async function renewOn(server: LockServer, entries: Entry[], ballots: Map<Entry, Ballot>): Promise<void> {
  const keys: string[] = [];
  const args: (string | number)[] = [];
  let patience = server.requestTimeoutMs;
  for (const { hold } of entries) {
    const renewal = hold.spec.renewal();
    keys.push(...renewal.keys);
    args.push(renewal.kind, renewal.keys.length, renewal.token, hold.serverLeaseMs(hold.leaseMs));
    patience = Math.min(patience, Math.max(20, hold.leaseMs / 6));
  }
  try {
    const replies = (await server.run(renewScript, keys, args, patience)) as unknown[];
    for (const [index, entry] of entries.entries()) {
      const ballot = ballots.get(entry)!;
      if (Number(replies[index]) === 1) ballot.yes++;
      else ballot.no++;
    }
  } catch {
    // Unknown, refused or not ready: none of it proves that a hold is lost.
  }
}
