/**
 * What each node knows about keys, through promotions, restarts and demotions: a promoted replica knows what its primary knew
 * at the offset that it had reached.
 */
import type { TenureCause } from '../../page/format.ts';
import type { Happening } from './happenings.ts';

/** What is known about ids, such as keys, with the changes that led to it. */
export class KnownState<T> {
  readonly table = new Map<string, T>();
  readonly #log: { readonly offset: number; readonly id: string; readonly before: T | undefined }[] = [];

  /** Sets what is known; undefined: nothing. @param offset the replication offset after the change */
  set(id: string, value: T | undefined, offset: number): void {
    const before = this.table.get(id);
    if (before === value) return;
    this.#log.push({ offset, id, before });
    this.#put(id, value);
  }

  #put(id: string, value: T | undefined): void {
    if (value === undefined) this.table.delete(id);
    else this.table.set(id, value);
  }

  /** What a replica knows that has got as far as this offset. */
  upTo(offset: number): KnownState<T> {
    const copy = new KnownState<T>();
    for (const [id, value] of this.table) copy.table.set(id, value);
    const later = this.#log.findIndex((entry) => entry.offset > offset);
    const kept = later === -1 ? this.#log.length : later;
    for (let i = this.#log.length - 1; i >= kept; i--) {
      const { id, before } = this.#log[i]!;
      copy.#put(id, before);
    }
    for (let i = 0; i < kept; i++) copy.#log.push(this.#log[i]!);
    return copy;
  }
}

/** What is told about changes of the nodes' data. */
export interface LineageEvents<T> {
  /** A node was promoted. @param before what the former primary knows */
  promoted?(node: string, at: number, before: KnownState<T>, now: KnownState<T>): void;
  /**
   * The data of a former primary no longer counts.
   * @param why the reason in words
   * @param cause the reason as data; undefined when the node follows another node and it is not known which
   */
  retired?(state: KnownState<T>, at: number, why: string, cause: TenureCause | undefined): void;
  /** True if a restarted node still has this. */
  isKept(value: T, id: string, kept: ReadonlyMap<string, string>): boolean;
}

interface NodeLine<T> {
  state: KnownState<T>;
  /** What the node has a copy of, while it is a replica. */
  copyOf: KnownState<T> | undefined;
  upstream: string | undefined;
  isPrimary: boolean;
  isUp: boolean;
}

/** Follows which data counts. */
export class Lineages<T> {
  readonly #nodes = new Map<string, NodeLine<T>>();
  readonly #events: LineageEvents<T>;
  /** The node that was promoted last, or wrote first. */
  #current: string | undefined;

  constructor(events: LineageEvents<T>) {
    this.#events = events;
  }

  /** What the node knows that executes this write. */
  writing(node: string, offset: number, at: number): KnownState<T> {
    const line = this.#line(node);
    if (!line.isPrimary) this.#promote(node, offset, at);
    this.#current ??= node;
    return line.state;
  }

  /** The states that count at present, each of a primary. */
  get serving(): KnownState<T>[] {
    return [...this.#nodes.values()].filter(({ isPrimary }) => isPrimary).map(({ state }) => state);
  }

  /** The primaries at present. */
  primaries(): { readonly node: string; readonly state: KnownState<T>; readonly isUp: boolean }[] {
    return [...this.#nodes].flatMap(([node, { isPrimary, state, isUp }]) =>
      isPrimary ? [{ node, state, isUp }] : [],
    );
  }

  /** Follows a change of roles or of a process; ignores other happenings. */
  follow(happening: Happening): void {
    const { kind, node, at } = happening;
    if (kind === 'crash') this.#line(node).isUp = false;
    else if (kind === 'promote') this.#promote(node, happening.offset, at);
    else if (kind === 'restart') this.#restart(node, happening.kept, at);
    else if (kind === 'synchronized') {
      const line = this.#line(node);
      // The nodes of a cluster decide by themselves which node they follow; no command orders it.
      if (line.isPrimary) this.#demote(node, happening.primary, at);
      line.upstream = happening.primary;
      line.copyOf = this.#line(happening.primary).state;
    } else if (kind === 'follow') this.#demote(node, happening.primary, at);
  }

  #line(node: string): NodeLine<T> {
    let line = this.#nodes.get(node);
    if (line === undefined) {
      line = { state: new KnownState(), copyOf: undefined, upstream: undefined, isPrimary: true, isUp: true };
      this.#nodes.set(node, line);
    }
    return line;
  }

  #promote(node: string, offset = Infinity, at: number): void {
    const line = this.#line(node);
    if (line.isPrimary) {
      this.#current = node;
      return;
    }
    const primary = line.upstream ?? this.#current;
    const before = line.copyOf ?? (primary === undefined ? line.state : this.#line(primary).state);
    line.state = before.upTo(offset);
    line.isPrimary = true;
    this.#current = node;
    this.#events.promoted?.(node, at, before, line.state);
    for (const [name, other] of this.#nodes) {
      if (other === line || !other.isPrimary || other.isUp || name !== primary) continue;
      other.isPrimary = false;
      const why = `the failover to ${node}, which never received it`;
      this.#events.retired?.(other.state, at, why, { how: 'failover', node });
    }
  }

  #demote(node: string, primary: string | undefined, at: number): void {
    const line = this.#line(node);
    const wasPrimary = line.isPrimary && this.#nodes.size > 1;
    line.isPrimary = false;
    line.copyOf = undefined;
    line.upstream = primary ?? (this.#current === node ? undefined : this.#current);
    if (!wasPrimary) return;
    const { upstream } = line;
    const target = upstream === undefined ? '' : ` of ${upstream}, which never received it`;
    const cause = upstream === undefined ? undefined : ({ how: 'demotion', node: upstream } as const);
    this.#events.retired?.(line.state, at, `the demotion of ${node} to a replica${target}`, cause);
  }

  #restart(node: string, kept: ReadonlyMap<string, string> | undefined, at: number): void {
    const line = this.#line(node);
    line.isUp = true;
    const before = line.isPrimary ? line.state : line.copyOf;
    if (before === undefined) return;
    const now = new KnownState<T>();
    for (const [id, value] of before.table)
      if (kept !== undefined && this.#events.isKept(value, id, kept)) now.table.set(id, value);
    if (!line.isPrimary) {
      line.copyOf = now;
      return;
    }
    line.state = now;
    const why = `the restart of ${node}, which did not keep it`;
    this.#events.retired?.(before, at, why, { how: 'restart', node });
  }
}
