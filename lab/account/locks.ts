/** Finds the writes of a run that are about locks, and the name of the lock behind each key. */

import type { RecordedRun, RecordedWrite } from '../timeline/record.ts';
import type { Calls } from './calls.ts';
import type { LockWrite } from './lock-write.ts';
import { isBookkeeping, lockName, membersOf, type Pools, READER, SESSION } from './pools.ts';
import { fieldId, keyId, type Recognition } from './recognition.ts';

/** What all writes of one command have in common. */
type CommonOfWrites = Pick<
  LockWrite,
  'at' | 'node' | 'client' | 'key' | 'call' | 'write' | 'shared' | 'renews'
>;

/** Every write of a client about a lock, in the order of time. */
export function lockWritesOf(
  run: RecordedRun,
  calls: Calls,
  pools: Pools,
  recognition: Recognition,
): LockWrite[] {
  const fields = new FieldLocks(recognition);
  const ranked = new RankedLocks();
  const counted = new CountedLocks();
  const modes = new Map<string, Mode>();
  /** The deadline of each session, and the locks that it holds. */
  const sessions = new Map<string, { deadline: number; readonly locks: Map<string, string> }>();
  const matters = filterOf(pools, recognition);
  const found = run.writes.flatMap((each): LockWrite[] => {
    const { key, client, type, command, at } = each.write;
    if (client === undefined) return [];
    const id = keyId(each.write);
    if (!matters(id, key)) return [];
    const call = calls.causeOf(each);
    const { at: when, node } = each;
    const common = { at: when, node, client, key, call, write: each, shared: false, renews: false };
    const asked = call === undefined ? [] : [call.words];
    const pooled = pools.holdsIn(each, { ...common, claim: key }, asked);
    if (pooled !== undefined) return pooled.filter(({ lock }) => !recognition.isExcluded(lock));
    const ofFields = fields.writesIn(each, common);
    if (ofFields.length > 0) return ofFields;
    const ofMembers = recognition.isNamed(id) ? ranked.writesIn(each, common) : undefined;
    if (ofMembers !== undefined) return ofMembers;
    const deadline = deadlineOf(command, asked);
    if (SESSION.test(key)) {
      const session = sessions.get(key) ?? { deadline: 0, locks: new Map<string, string>() };
      sessions.set(key, session);
      session.deadline = type === 'none' ? at : (deadline ?? session.deadline);
      const lease = session.deadline - at;
      return [...session.locks].map(([lock, holder]) => ({
        ...{ ...common, key: lock, claim: lock, lock, holder: type === 'none' ? undefined : holder },
        ...{ lease: type === 'none' ? undefined : lease, renews: true, gone: type === 'none' },
      }));
    }
    const reader = READER.exec(key);
    const lock = reader === null ? id : lockName(reader[1] as string);
    if (reader === null ? !recognition.isLock(lock, id) : recognition.isExcluded(lock)) return [];
    const mode = modeAfter(modes, each);
    const count = counted.countAfter(each);
    if (count !== undefined && count > 1) return [];
    const gone = type === 'none' || count === 0 || (mode !== undefined && isHdelOfWriter(command));
    const holder = gone ? undefined : holderOf(each, mode);
    const session = sessions.get(SESSION.exec(holder ?? '')?.[0] ?? '');
    for (const { locks } of sessions.values()) if (gone || session?.locks !== locks) locks.delete(key);
    if (session !== undefined && holder !== undefined) session.locks.set(key, holder);
    const end = session?.deadline ?? deadline;
    return [
      {
        ...{ ...common, claim: id, lock, holder, gone },
        shared: reader !== null,
        lease: holder === undefined || end === undefined ? undefined : end - at,
        renews: /^p?expire(at)?$/i.test(command[0] ?? ''),
      },
    ];
  });
  return withLeases(found);
}

/** Locks that clients take by counting a key from nothing to 1. Requests that count further are refused. */
class CountedLocks {
  readonly #keys = new Set<string>();

  /** The number after a write that counts; 0 when the lock is free, undefined for other writes and other numbers. */
  countAfter({ write }: RecordedWrite): number | undefined {
    const id = keyId(write);
    const { command, type, holder } = write;
    const [name = '', , by = '1'] = command;
    const isNumber = type === 'string' && /^(?:in|de)cr(?:by)?$/i.test(name);
    if (!isNumber) {
      if (type === 'none') this.#keys.delete(id);
      return undefined;
    }
    const count = Number(holder);
    const isDown = /^decr/i.test(name) !== by.startsWith('-');
    if (!isDown && count === Number(by)) this.#keys.add(id);
    if (!this.#keys.has(id)) return undefined;
    // A client that counts down does not take the lock.
    return isDown && count > 0 ? Math.max(2, count) : Math.max(0, count);
  }
}

/** Sorted sets that the user calls locks: each member is a permit. Its score may be the end of its lease, and the key may end before. */
class RankedLocks {
  /** The deadline of each member, by the member's score and then by the key. Infinity for one without an end. */
  readonly #deadlines = new Map<string, Map<string, RankedMember>>();

  /** What a write says about the members; undefined for a write that is about none. */
  writesIn({ write }: RecordedWrite, common: CommonOfWrites): LockWrite[] | undefined {
    const id = keyId(write);
    const [name = ''] = write.command;
    const members = this.#deadlines.get(id) ?? new Map<string, RankedMember>();
    const about = (member: string, deadline: number | undefined): LockWrite => ({
      ...{ ...common, claim: `${id} ${member}`, lock: id, holder: member, gone: deadline === undefined },
      ...{ shared: true, permit: true, lease: deadline === undefined ? undefined : deadline - write.at },
    });
    if (/^zremrangebyscore$/i.test(name)) {
      const [, , min = '', max = ''] = write.command;
      const expired = /^(?:-inf|\(?0)$/i.test(min);
      return [...members].flatMap(([member, { score }]) => {
        if (!isBetween(score, min, max)) return [];
        members.delete(member);
        return [{ ...about(member, undefined), expired }];
      });
    }
    if (/^z(?:add|rem)$/i.test(name)) {
      this.#deadlines.set(id, members);
      return membersOf(write.command).map(({ member, score }) => {
        if (score === undefined) members.delete(member);
        const own = score !== undefined && score <= write.at ? Infinity : score;
        if (own !== undefined && score !== undefined) members.set(member, { own, known: own, score });
        return about(member, own);
      });
    }
    const deadline = members.size === 0 ? undefined : deadlineOf(write.command, []);
    if (deadline === undefined) return undefined;
    return [...members].flatMap(([member, each]) => {
      const ends = Math.min(each.own, deadline);
      if (ends === each.known) return [];
      each.known = ends;
      return [{ ...about(member, ends), renews: true }];
    });
  }
}

/** A member of a sorted set, with the end of its lease as far as it is known. */
interface RankedMember {
  readonly own: number;
  known: number;
  readonly score: number;
}

/** True for a score between two ends as ZREMRANGEBYSCORE takes them. */
function isBetween(score: number, min: string, max: string): boolean {
  const numberOf = (end: string): number => {
    const text = end.replace(/^\(/, '').toLowerCase();
    return text === '-inf' ? -Infinity : /^\+?inf$/.test(text) ? Infinity : Number(text);
  };
  const isOver = min.startsWith('(') ? score > numberOf(min) : score >= numberOf(min);
  return isOver && (max.startsWith('(') ? score < numberOf(max) : score <= numberOf(max));
}

/** Tells which keys can be about locks: most keys of a long run are not. */
function filterOf(pools: Pools, recognition: Recognition): (id: string, key: string) => boolean {
  const known = new Map<string, boolean>();
  return (id, key) => {
    let matters = known.get(id);
    if (matters === undefined) {
      const isLock = recognition.isLock(id, id) || recognition.isNamed(id) || recognition.hasFields(id);
      known.set(id, (matters = !isBookkeeping(key) && (isLock || pools.keeps(key))));
    }
    return matters;
  };
}

/** Gives grants the lease that the same command sets next, as scripts do; a grant without any has no end. */
function withLeases(writes: readonly LockWrite[]): LockWrite[] {
  const holders = new Map<string, string>();
  return writes.map((write, i) => {
    const { node, claim, holder, gone, lease, call } = write;
    const name = `${node} ${claim}`;
    if (gone) holders.delete(name);
    if (gone || holder === undefined) return write;
    const isNew = holders.get(name) !== holder;
    holders.set(name, holder);
    if (lease !== undefined || (!isNew && !takesLease(write))) return write;
    let next = i + 1;
    while (writes[next] !== undefined && writes[next]?.at === write.at && writes[next]?.lease === undefined)
      next++;
    const later = writes[next];
    const isSame =
      later !== undefined && later.call === call && later.claim === claim && later.at === write.at;
    if (isSame && !isNew) return write;
    return { ...write, lease: isSame ? later.lease : Infinity };
  });
}

/** True for a write of a string that has no lease afterwards, such as by SET or GETSET. */
function takesLease({ write }: LockWrite): boolean {
  const [name = '', , , ...how] = write.write.command;
  return /^set$/i.test(name) && !how.some((word) => /^(?:pxat|keepttl)$/i.test(word));
}

/** A read-write lock: its mode, and the field of its writer. */
interface Mode {
  readonly mode: string;
  readonly writer: string | undefined;
}

/** The mode of a read-write lock after the write; undefined for other keys. */
function modeAfter(modes: Map<string, Mode>, { write }: RecordedWrite): Mode | undefined {
  const { key, type, command } = write;
  const known = modes.get(key);
  const [name = '', , field, value = ''] = command;
  const writer = command.find((word) => word.endsWith(':write'));
  const now =
    /^hset$/i.test(name) && (field === 'mode' || (known !== undefined && writer !== undefined))
      ? { mode: field === 'mode' ? value : (known?.mode ?? ''), writer: writer ?? known?.writer }
      : known;
  if (now !== undefined) modes.set(key, now);
  if (type === 'none') modes.delete(key);
  return now;
}

/** What stands for the holder. In a read-write lock it is the writer's field; readers have keys of their own. */
function holderOf({ write }: RecordedWrite, mode: Mode | undefined): string | undefined {
  if (write.holder !== 'mode') return write.holder;
  return mode?.mode === 'write' ? mode.writer : undefined;
}

function isHdelOfWriter(command: readonly string[]): boolean {
  return /^hdel$/i.test(command[0] ?? '') && command.some((word) => word.endsWith(':write'));
}

/** When the command ends the key, in milliseconds since the epoch; Infinity for a lock without an end; undefined if it says neither. */
function deadlineOf(command: readonly string[], asked: readonly (readonly string[])[]): number | undefined {
  const name = (command[0] ?? '').toLowerCase();
  const pxat = command.findIndex((word) => /^pxat$/i.test(word));
  if (name === 'set' && pxat !== -1) return Number(command[pxat + 1]);
  if (name === 'pexpireat') return Number(command[2]);
  if (name === 'persist') return Infinity;
  const once = asked.some(
    (words) => /^setnx$/i.test(words[0] ?? '') || words.some((word) => /^nx$/i.test(word)),
  );
  return once && /^set/.test(name) ? Infinity : undefined;
}

/** The fields that HSETEX, HPEXPIREAT and HPERSIST name after `FIELDS count`, with the values of HSETEX, and its deadline. */
function fieldsIn(words: readonly string[]): {
  readonly names: readonly string[];
  readonly pairs: readonly (readonly [field: string, value: string])[];
  readonly deadline: number | undefined;
} {
  const at = words.findIndex((word) => /^fields$/i.test(word));
  const names = at === -1 ? [] : words.slice(at + 2);
  const pxat = words.findIndex((word) => /^pxat$/i.test(word));
  return {
    names,
    pairs: names.flatMap((field, i) => (i % 2 === 0 ? [[field, names[i + 1] ?? ''] as const] : [])),
    deadline: pxat === -1 ? undefined : Number(words[pxat + 1]),
  };
}

/** Locks in the fields of hashes, which clients take with HSETNX, or with HSETEX and FNX. A field may have a lease of its own. */
class FieldLocks {
  readonly #recognition: Recognition;
  /** The fields of each hash that are locks at present, with their holders. */
  readonly #held = new Map<string, Map<string, string>>();

  constructor(recognition: Recognition) {
    this.#recognition = recognition;
  }

  writesIn({ write }: RecordedWrite, common: CommonOfWrites): LockWrite[] {
    const id = keyId(write);
    const [name = '', , ...rest] = write.command;
    const held = this.#held.get(id) ?? new Map<string, string>();
    const about = (field: string, holder: string | undefined, lease: number | undefined): LockWrite => {
      const lock = fieldId(id, field);
      if (holder === undefined) held.delete(field);
      else held.set(field, holder);
      return { ...common, claim: lock, lock, holder, lease, gone: holder === undefined };
    };
    if (/^hsetnx$/i.test(name)) {
      const [field = '', value = ''] = rest;
      const lock = fieldId(id, field);
      this.#held.set(id, held);
      return this.#recognition.isLock(lock, lock) ? [about(field, value, Infinity)] : [];
    }
    if (/^hsetex$/i.test(name)) {
      const set = fieldsIn(rest);
      const isTaking = rest.some((word) => /^fnx$/i.test(word));
      this.#held.set(id, held);
      return set.pairs
        .filter(([field]) => {
          const lock = fieldId(id, field);
          return held.has(field) || (isTaking && this.#recognition.isLock(lock, lock));
        })
        .map(([field, value]) => about(field, value, (set.deadline ?? Infinity) - write.at));
    }
    if (held.size === 0) return [];
    const own = [...held];
    if (write.type === 'none') return own.map(([field]) => about(field, undefined, undefined));
    if (/^hdel$/i.test(name))
      return rest.filter((field) => held.has(field)).map((field) => about(field, undefined, undefined));
    if (/^hset$/i.test(name))
      return rest.flatMap((field, i) =>
        i % 2 === 0 && held.has(field) ? [about(field, rest[i + 1] ?? '', Infinity)] : [],
      );
    const fieldDeadline = /^hpexpireat$/i.test(name) ? Number(rest[0]) : Infinity;
    if (/^h(?:pexpireat|persist)$/i.test(name))
      return fieldsIn(rest).names.flatMap((field) => {
        const holder = held.get(field);
        if (holder === undefined) return [];
        return [{ ...about(field, holder, fieldDeadline - write.at), renews: true }];
      });
    const deadline = deadlineOf(write.command, []);
    return deadline === undefined
      ? []
      : own.map(([field, holder]) => ({ ...about(field, holder, deadline - write.at), renews: true }));
  }
}
