/** Works out the tenures of locks: which grant stood on the servers from when to when, and what ended it. */
import type { TenureCause } from '../../page/format.ts';
import type { RecordedRun } from '../timeline/record.ts';
import { isScript, type SentCommand } from './calls.ts';
import type { Happening } from './happenings.ts';
import { type KnownState, Lineages } from './lineages.ts';
import type { LockWrite } from './lock-write.ts';
import { fieldId, keyId } from './recognition.ts';

/** What ended a tenure. */
export interface TenureEnd {
  /** When, in microseconds since the run began: when the server executed it. */
  readonly at: number;
  readonly how: 'released' | 'deleted' | 'expired' | 'overwritten' | 'evicted' | 'flushed' | 'lost';
  /** The client whose command it was; undefined for what servers do by themselves. */
  readonly by?: string;
  /** In words: the command, or the failover or restart that did not have it. */
  readonly what: string;
  /** What servers did, for an end that was no command. */
  readonly cause?: TenureCause;
  readonly call?: SentCommand;
}

/** A renewal of a lease. */
export interface TenureRenewal {
  /** When the server executed it. */
  readonly at: number;
  readonly by: string;
}

/** A grant, as long as it stood on the servers. Times are in microseconds since the run began. */
export interface Tenure {
  readonly lock: string;
  /** What tells it from other tenures of the lock at the same time. */
  readonly claim: string;
  readonly key: string;
  /** The node that granted it. */
  readonly node: string;
  readonly client: string;
  /** The token in the key. */
  readonly holder: string;
  readonly shared: boolean;
  readonly permit: boolean;
  /** When the server executed the grant. */
  readonly from: number;
  /** The command that was granted, in short. */
  readonly what: string;
  readonly call: SentCommand | undefined;
  /** When the client received the grant; null when it did not. */
  told: number | null;
  /** True when a failover brought it back, after it had ended. */
  readonly restored: boolean;
  /** For how long it was granted, in milliseconds by the node's clock; undefined without an end. */
  lease: number | undefined;
  /** The deadline by the node's clock, in milliseconds since the epoch; undefined without one. */
  deadline: number | undefined;
  readonly renewals: TenureRenewal[];
  /** What took the lease away, such as a SET without PX; undefined while it has a lease, and when it never had one. */
  bared: SentCommand | undefined;
  /** What another client shortened the lease with, such as a PEXPIRE that compares no token; undefined while nobody has. */
  shortened: TenureShortening | undefined;
  end: TenureEnd | undefined;
}

/** A command of another client that set the end of a lease to an earlier time. */
export interface TenureShortening {
  /** When the server executed it. */
  readonly at: number;
  readonly by: string;
  readonly call: SentCommand;
}

/** The client that ended another's grant before its time: it deleted it, or shortened its lease; undefined when none did. */
export function takerOf({ client, end, shortened }: Tenure): string | undefined {
  if (end?.how === 'deleted' && end.by !== client) return end.by;
  return end?.how === 'expired' && end.cause === undefined ? shortened?.by : undefined;
}

/** The command of a call in short: `SET … NX`, `a script`, `DEL`. */
export function commandText(call: SentCommand | undefined, effect: readonly string[] = []): string {
  if (call !== undefined && isScript(call)) return 'a script';
  const words = call?.words ?? effect;
  const [name = 'a write'] = words;
  const nx = /^set$/i.test(name) && words.slice(3).some((word) => /^nx$/i.test(word)) ? ' NX' : '';
  return `${name.toUpperCase()}${nx}`;
}

/** The tenures of a run, in the order of their grants. */
export function tenuresOf(
  run: RecordedRun,
  happenings: readonly Happening[],
  writes: readonly LockWrite[],
): Tenure[] {
  return new TenureReader(run, writes).read(happenings);
}

class TenureReader {
  readonly #tenures: Tenure[] = [];
  readonly #nodes: Lineages<Tenure>;
  readonly #byWrite = new Map<unknown, LockWrite[]>();
  /** The claims that stand in each key. */
  readonly #claims = new Map<string, Set<string>>();
  /** The deadlines that each tenure has had, in the order in which they were set. */
  readonly #deadlines = new WeakMap<Tenure, { readonly deadline: number; readonly at: number }[]>();
  /** When nodes were promoted or restarted. */
  #turns: readonly (Happening & { kind: 'promote' | 'restart' })[] = [];
  /** When the clocks of nodes were changed, and how. */
  #clocks: readonly (Happening & { kind: 'clock' })[] = [];
  readonly #end: number;

  constructor({ end }: RecordedRun, writes: readonly LockWrite[]) {
    this.#end = end;
    for (const each of writes) {
      const list = this.#byWrite.get(each.write);
      if (list === undefined) this.#byWrite.set(each.write, [each]);
      else list.push(each);
    }
    this.#nodes = new Lineages<Tenure>({
      isKept: ({ key, holder }, claim, kept) => {
        const known = kept.get(key);
        const isSame = known === '' || known === holder || claim !== key;
        // Of the hash of a read-write lock, its mode is known, and not the field of its holder.
        return known !== undefined && (isSame || known === 'mode');
      },
      promoted: (node, at, before, now) => this.#promoted(node, at, before, now),
      retired: (state, at, why, cause) => {
        for (const [claim, tenure] of state.table)
          this.#lose(claim, tenure, { at, how: 'lost', what: why, ...(cause !== undefined && { cause }) });
      },
    });
  }

  read(happenings: readonly Happening[]): Tenure[] {
    // A jump ends leases at the same instant, so it is not looked for in its turn.
    this.#clocks = happenings.filter((each) => each.kind === 'clock');
    this.#turns = happenings.filter((each) => each.kind === 'promote' || each.kind === 'restart');
    for (const each of happenings) {
      this.#nodes.follow(each);
      if (each.kind === 'flush') this.#flush(each.at, each.call);
      else if (each.kind === 'write') this.#write(each);
    }
    return this.#tenures;
  }

  #write({ node, at, write: recorded }: Happening & { kind: 'write' }): void {
    const { write } = recorded;
    const state = this.#nodes.writing(node, write.offset, at);
    const own = this.#byWrite.get(recorded);
    if (own !== undefined) {
      for (const each of own) this.#apply(state, each);
      return;
    }
    // What a node does by itself, or to the key of several claims.
    const id = keyId(write);
    const isOfFields = write.client === undefined && /^hdel$/i.test(write.command[0] ?? '');
    if (write.type !== 'none' && !isOfFields) return;
    const claims = isOfFields ? write.command.slice(2).map((field) => fieldId(id, field)) : [];
    for (const claim of write.type === 'none' ? (this.#claims.get(id) ?? []) : claims) {
      const tenure = state.table.get(claim);
      if (tenure === undefined) continue;
      state.set(claim, undefined, write.offset);
      const isOver = write.at >= (tenure.deadline ?? Infinity);
      const by = write.client;
      if (isOver) this.#finish(tenure, this.#expiry(tenure, node, at, write.at));
      else if (by !== undefined)
        this.#finish(tenure, { at, how: 'deleted', by, what: (write.command[0] ?? '').toUpperCase() });
      else
        this.#finish(
          tenure,
          this.#withoutRenewal(tenure, node, at, write.at) ?? {
            at,
            how: 'evicted',
            what: `${node} evicted it`,
          },
        );
    }
  }

  #apply(state: KnownState<Tenure>, write: LockWrite): void {
    const { claim, holder, gone, at, node, client, lease, call } = write;
    const { offset, at: clock, command } = write.write.write;
    const current = state.table.get(claim);
    const what = commandText(call, command);
    if (gone) {
      if (current === undefined) return;
      state.set(claim, undefined, offset);
      const isOver = clock >= (current.deadline ?? Infinity);
      if (isOver) this.#finish(current, this.#expiry(current, node, at, clock));
      else if (write.expired === true)
        this.#finish(current, { at, how: 'expired', what: 'its lease was over' });
      else {
        const how = client === current.client ? 'released' : 'deleted';
        this.#finish(current, { at, how, by: client, what, ...(call !== undefined && { call }) });
      }
      return;
    }
    if (holder === undefined) return;
    if (current?.holder === holder) {
      if (lease === undefined) return;
      const isOfGrant = current.call === call && current.renewals.length === 0 && current.from === at;
      const deadline = Number.isFinite(lease) ? clock + lease : undefined;
      const isShorter = client !== current.client && (deadline ?? Infinity) < (current.deadline ?? -Infinity);
      current.shortened = isShorter && call !== undefined ? { at, by: client, call } : undefined;
      current.deadline = deadline;
      this.#note(current, at);
      if (isOfGrant) {
        current.lease = Number.isFinite(lease) ? lease : undefined;
        return;
      }
      current.renewals.push({ at, by: client });
      current.bared = Number.isFinite(lease) || current.lease === undefined ? undefined : call;
      // A command that is sent again, and finds its own grant, learns of it.
      if (client === current.client) current.told ??= call?.reply?.arrived ?? null;
      return;
    }
    if (current !== undefined) {
      // Real servers do not record that they have removed the key of a lease that is over.
      const isOver = clock >= (current.deadline ?? Infinity);
      const how = 'overwritten';
      const end = { at, how, by: client, what, ...(call !== undefined && { call }) } as const;
      const lost = isOver ? undefined : this.#withoutRenewal(current, node, at, clock);
      this.#finish(current, isOver ? this.#expiry(current, node, at, clock) : (lost ?? end));
    }
    // Of those in a queue, only the first has the lock.
    if (write.visits === true && !/^\[\d+, /.test(call?.reply?.text ?? '')) return;
    const isEndless = lease === undefined || !Number.isFinite(lease);
    const tenure: Tenure = {
      ...{ lock: write.lock, claim, key: write.key, node, client, holder, call, what, from: at },
      ...{ shared: write.shared, permit: write.permit === true, told: call?.reply?.arrived ?? null },
      ...{ lease: isEndless ? undefined : lease, deadline: isEndless ? undefined : clock + lease },
      ...{ restored: false, renewals: [] },
      ...{ bared: undefined, shortened: undefined, end: undefined },
    };
    this.#note(tenure, at);
    this.#begin(state, tenure, offset);
  }

  #note(tenure: Tenure, at: number): void {
    const { deadline = Infinity } = tenure;
    const known = this.#deadlines.get(tenure);
    if (known === undefined) this.#deadlines.set(tenure, [{ deadline, at }]);
    else known.push({ deadline, at });
  }

  /**
   * The end of a lease at an earlier deadline, on a node that never had the renewals after it, or did not keep them; undefined when it has
   * all of them. @param clock the time by the node's clock
   */
  #withoutRenewal(tenure: Tenure, node: string, at: number, clock: number): TenureEnd | undefined {
    const known = this.#deadlines.get(tenure) ?? [];
    const last = known.findLastIndex(({ deadline }) => deadline <= clock);
    const renewal = known[last + 1];
    if (last === -1 || renewal === undefined) return undefined;
    const turn = this.#turns.findLast((each) => each.node === node && each.at >= renewal.at && each.at <= at);
    if (turn === undefined) return undefined;
    const isFailover = turn.kind === 'promote';
    return {
      ...{ at, how: 'lost', cause: { how: isFailover ? 'failover' : 'restart', node } },
      what: isFailover
        ? `the failover to ${node}, which never received its renewal`
        : `the restart of ${node}, which did not keep its renewal`,
    };
  }

  #begin(state: KnownState<Tenure>, tenure: Tenure, offset: number): void {
    this.#tenures.push(tenure);
    state.set(tenure.claim, tenure, offset);
    const claims = this.#claims.get(tenure.key);
    if (claims === undefined) this.#claims.set(tenure.key, new Set([tenure.claim]));
    else claims.add(tenure.claim);
  }

  #finish(tenure: Tenure, end: TenureEnd): void {
    tenure.end ??= end;
  }

  /** A lease ends when its deadline has passed by the node's clock, even if the node looks at the key later. */
  #expiry({ deadline = 0, from }: Tenure, node: string, at: number, clock: number): TenureEnd {
    const jump = this.#clocks.findLast((each) => each.node === node && each.at <= at);
    const exact = at - Math.max(0, clock - deadline - 1) * 1000;
    const jumped = jump !== undefined && jump.at >= exact && jump.at > from;
    return {
      at: Math.max(exact, from, jumped ? jump.at : 0),
      how: 'expired',
      what: jumped ? `the clock of ${node} ${jump.text}` : 'its lease was over',
      ...(jumped && { cause: { how: 'clock', node } as const }),
    };
  }

  #flush(at: number, call: SentCommand): void {
    for (const { node, state } of this.#nodes.primaries()) {
      if (node !== call.node) continue;
      for (const [claim, tenure] of [...state.table]) {
        state.set(claim, undefined, Infinity);
        this.#finish(tenure, { at, how: 'flushed', by: call.client, what: call.name.toUpperCase(), call });
      }
    }
  }

  /** A promoted node has what its primary had when it sent the last that arrived: locks that were given back since then are back. */
  #promoted(node: string, at: number, before: KnownState<Tenure>, now: KnownState<Tenure>): void {
    for (const [claim, tenure] of [...now.table]) {
      const { end } = tenure;
      if (before.table.get(claim) === tenure || end === undefined) continue;
      if (end.how === 'expired') {
        now.table.delete(claim);
        continue;
      }
      const back: Tenure = {
        ...{ ...tenure, node, from: at, told: null, restored: true, renewals: [], end: undefined },
        what: `the failover to ${node}, which never received ${end.by ?? end.what}'s ${end.what}`,
      };
      this.#tenures.push(back);
      now.table.set(claim, back);
    }
  }

  #lose(claim: string, tenure: Tenure, end: TenureEnd): void {
    if (this.#nodes.serving.some(({ table }) => table.get(claim) === tenure)) return;
    this.#finish(tenure, { ...end, at: Math.min(end.at, this.#end) });
  }
}
