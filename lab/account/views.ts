/** Follows what each node knows about the keys that are used as locks. */
import type { TimelineKey } from '../../page/format.ts';
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun } from '../timeline/record.ts';
import { membersOf, type Pools } from './pools.ts';

/** A change of what one node knows. */
interface ViewChange {
  readonly at: number;
  readonly node: string;
  readonly apply: (views: NodeViews) => void;
}

/** What one node knows at present. */
class NodeViews {
  readonly open = new Map<string, TimelineKey>();
  /** The fields of each hash, without `mode` of read-write locks: the first one stands for the holder. */
  readonly #fields = new Map<string, string[]>();
  readonly #node: string;
  readonly #done: TimelineKey[];

  constructor(node: string, done: TimelineKey[]) {
    this.#node = node;
    this.#done = done;
  }

  close(key: string, at: number, ended: NonNullable<TimelineKey['ended']>): void {
    this.#fields.delete(key);
    this.#end(key, at, ended);
  }

  #end(key: string, at: number, ended: NonNullable<TimelineKey['ended']>): void {
    const view = this.open.get(key);
    if (view === undefined) return;
    this.open.delete(key);
    this.#done.push({ ...view, to: at, ended });
  }

  closeAll(at: number, ended: NonNullable<TimelineKey['ended']>): void {
    for (const key of [...this.open.keys()]) this.close(key, at, ended);
  }

  /** @param key the name of the lock; the id differs from it when several may have a permit */
  set(id: string, holder: string, at: number, offset: number | undefined, key = id): void {
    if (this.open.get(id)?.holder === holder) return;
    this.#end(id, at, 'replaced');
    this.open.set(id, {
      node: this.#node,
      key,
      holder,
      from: at,
      to: null,
      ...(offset !== undefined && { offset }),
      ...(id !== key && { permit: true }),
    });
  }

  /** ZADD and ZREM on a lock's sorted set. */
  rank(
    lock: string,
    isPool: boolean,
    command: readonly string[],
    at: number,
    offset: number | undefined,
  ): void {
    for (const { member, score } of membersOf(command)) {
      if (!isPool && score !== undefined) this.addFields(lock, [member], at, offset);
      else if (!isPool) this.removeFields(lock, [member], at, offset);
      else if (score !== undefined) this.set(`${lock} ${member}`, member, at, offset, lock);
      else this.close(`${lock} ${member}`, at, 'deleted');
    }
  }

  addFields(key: string, added: readonly string[], at: number, offset: number | undefined): void {
    // What a full copy has brought is known by its holder.
    const known = this.#fields.get(key) ?? [this.open.get(key)?.holder ?? []].flat();
    this.#first(key, [...new Set([...known, ...added.filter((field) => field !== 'mode')])], at, offset);
  }

  removeFields(key: string, removed: readonly string[], at: number, offset: number | undefined): void {
    const known = this.#fields.get(key) ?? [this.open.get(key)?.holder ?? []].flat();
    this.#first(
      key,
      known.filter((field) => !removed.includes(field)),
      at,
      offset,
    );
  }

  #first(key: string, fields: string[], at: number, offset: number | undefined): void {
    const [first] = fields;
    if (first === undefined) {
      this.close(key, at, 'deleted');
      return;
    }
    this.#fields.set(key, fields);
    this.set(key, first, at, offset);
  }
}

/** What the nodes knew of these keys, in the order in which they learned it. */
export function keysOf(
  run: RecordedRun,
  messages: readonly ReadMessage[],
  keys: ReadonlySet<string>,
  pools: Pools,
): TimelineKey[] {
  const done: TimelineKey[] = [];
  const nodes = new Map<string, NodeViews>();
  const viewsOf = (node: string): NodeViews => {
    let views = nodes.get(node);
    if (views === undefined) nodes.set(node, (views = new NodeViews(node, done)));
    return views;
  };
  const changes = [
    ...writesIn(run, keys, pools),
    ...copiesIn(messages, keys, pools, viewsOf),
    ...crashesIn(run),
  ];
  const order = [...changes.entries()].sort(([i, a], [k, b]) => a.at - b.at || i - k);
  for (const [, { node, apply }] of order) apply(viewsOf(node));
  return [...done, ...[...nodes.values()].flatMap(({ open }) => [...open.values()])].sort(
    (a, b) => a.from - b.from,
  );
}

function writesIn({ writes }: RecordedRun, keys: ReadonlySet<string>, pools: Pools): ViewChange[] {
  return writes.flatMap(({ at, node, write }): ViewChange[] => {
    const { key, holder, type, client, offset } = write;
    const ranked = rankedBy(pools, keys, write.command, at, offset);
    if (ranked !== undefined) return [{ at, node, apply: ranked }];
    if (!keys.has(key) || pools.isCounter(key)) return [];
    const apply = (views: NodeViews): void => {
      if (type === 'none') views.close(key, at, client === undefined ? 'expired' : 'deleted');
      else if (type === 'hash') applied(write.command, at, offset)?.(views);
      else if (holder !== undefined) views.set(key, holder, at, offset);
    };
    return [{ at, node, apply }];
  });
}

/** What replicas learn from the replication stream. */
function copiesIn(
  messages: readonly ReadMessage[],
  keys: ReadonlySet<string>,
  pools: Pools,
  viewsOf: (node: string) => NodeViews,
): ViewChange[] {
  return messages.flatMap(({ kind, from, to, sent, arrived, asks = [], offsets, text }): ViewChange[] => {
    if (arrived === null) return [];
    if (kind === 'service' && text.startsWith('full copy, offset')) {
      const source = { at: sent, node: from, seen: new Map<string, TimelineKey>() };
      return [
        {
          at: sent,
          node: from,
          apply: (views) => views.open.forEach((view, key) => void source.seen.set(key, view)),
        },
        {
          at: arrived,
          node: to,
          apply: (views) => {
            views.closeAll(arrived, 'resynchronized');
            for (const [id, { holder, offset, key }] of source.seen)
              viewsOf(to).set(id, holder, arrived, offset, key);
          },
        },
      ];
    }
    if (kind !== 'stream') return [];
    return asks.flatMap(({ words }): ViewChange[] => {
      const ranked = rankedBy(pools, keys, words, arrived, offsets?.[1]);
      if (ranked !== undefined) return [{ at: arrived, node: to, apply: ranked }];
      return singlesOf(words).flatMap((command): ViewChange[] => {
        const [name = '', key = ''] = command;
        const isOther = !/^flush/i.test(name) && (!keys.has(key) || pools.isCounter(key));
        const apply = isOther ? undefined : applied(command, arrived, offsets?.[1]);
        return apply === undefined ? [] : [{ at: arrived, node: to, apply }];
      });
    });
  });
}

/** What a command on a lock's sorted set changes; undefined when it is about something else. */
function rankedBy(
  pools: Pools,
  keys: ReadonlySet<string>,
  command: readonly string[],
  at: number,
  offset: number | undefined,
): ViewChange['apply'] | undefined {
  const { lock, use } = pools.sortedSet(command[1] ?? '') ?? {};
  if (lock === undefined || use === 'places' || !keys.has(lock)) return undefined;
  return (views) => views.rank(lock, pools.isShared(lock), command, at, offset);
}

/** A command on several keys as one for each of them. */
function singlesOf(words: readonly string[]): readonly (readonly string[])[] {
  const [command = '', ...rest] = words;
  const name = command.toLowerCase();
  if (name === 'del' || name === 'unlink') return rest.map((key) => [name, key]);
  if (name === 'mset' || name === 'msetnx')
    return rest.flatMap((key, i) => (i % 2 === 0 ? [['set', key, rest[i + 1] ?? '']] : []));
  return [words];
}

/** What a command of the replication stream changes on one key. */
function applied(
  [command = '', key = '', value = '', ...rest]: readonly string[],
  at: number,
  offset: number | undefined,
): ViewChange['apply'] | undefined {
  const name = command.toLowerCase();
  // The stream has what succeeded only: SETNX set the key.
  if (/^(set|setnx|getset)$/.test(name)) return (views) => views.set(key, value, at, offset);
  if (/^p?setex$/.test(name)) return (views) => views.set(key, rest[0] ?? '', at, offset);
  if (/^flush(all|db)$/.test(name)) return (views) => views.closeAll(at, 'deleted');
  if (/^h(set|incrby|setnx)$/.test(name)) {
    const fields = name === 'hset' ? [value, ...rest.filter((_, i) => i % 2 === 1)] : [value];
    return (views) => views.addFields(key, fields, at, offset);
  }
  if (name === 'hdel') return (views) => views.removeFields(key, [value, ...rest], at, offset);
  if (/^(del|unlink|getdel)$/.test(name)) return (views) => views.close(key, at, 'deleted');
  return undefined;
}

function crashesIn({ events }: RecordedRun): ViewChange[] {
  return events
    .filter(({ what }) => what === 'crash')
    .map(({ at, who }) => ({ at, node: who, apply: (views) => views.closeAll(at, 'crashed') }));
}
