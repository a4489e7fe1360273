/** Decides which keys are locks: those that clients take because they are absent, and those in a layout that is known. */
import { globMatch } from '../../protocol/glob.ts';
import type { RecordedRun, RecordedWrite } from '../timeline/record.ts';
import { type Calls, isScript, type SentCommand, scriptKeys, scriptOf } from './calls.ts';
import type { Happening } from './happenings.ts';
import { Lineages } from './lineages.ts';
import { isBookkeeping, lockName, type Pools, READER, SESSION } from './pools.ts';

/** A command that sets a key if it is absent. */
export interface TakeAttempt {
  readonly call: SentCommand;
  /** The key, as `keyId` names it. */
  readonly id: string;
  readonly value: string;
  readonly granted: boolean;
}

/** A key that a client set because it was absent, and that is no lock all the same. */
export interface OtherKey {
  readonly key: string;
  /** Why it is none, as the rest of a sentence that begins with the key. */
  readonly why: string;
  readonly attempts: readonly TakeAttempt[];
}

/** What is known about a key. */
interface Facts {
  readonly attempts: TakeAttempt[];
  /** How clients change it while it is present. */
  changed: string | undefined;
  /** True when somebody compares its value, renews it or deletes it. */
  used: boolean;
  /** True in a layout that is known. */
  layout: boolean;
  /** True when a client has set it by a plain SET while it was absent. */
  given: boolean;
}

/** A key's value on a node. */
interface KeyOnNode {
  readonly type: string;
  readonly holder: string | undefined;
  readonly hasEnd: boolean;
}

/** Owners in hashes, as Redisson and lostlock/locks write them. */
const OWNER = /^[\w.-]{8,}:.+$/;
/** Values that tell nobody apart. */
const CONSTANT = /^(?:\d{0,3}|true|yes|ok|x|lock|locked|done|pending|processing|running)$/i;
/** In a script: it looks whether the key is there before it sets it. */
const ABSENCE = /\bnx\b|setnx|exists|["']get["']|["']hget["']/i;
/** Commands that change a value of any length. A script may delete the key afterwards. */
const EDITS = /^(?:incr|decr|append|setrange|setbit|getset|l?push|rpush|sadd|zadd|zincrby)/;
/** Commands that set a string which was absent. */
const SETS = /^(?:set|setnx|setex|psetex)$/;
const NX = /\bnx\b|setnx/i;

/** The name of a key, with its database unless that is the first. */
export function keyId({ key, db = 0 }: Pick<RecordedWrite['write'], 'key' | 'db'>): string {
  return db === 0 ? key : `${key} (db ${db})`;
}

/** The field of a hash that a client took because it was absent. */
export function fieldId(id: string, field: string): string {
  return `${id} ${field}`;
}

/** Which keys are locks. */
export class Recognition {
  readonly #facts = new Map<string, Facts>();
  /** The clients that wrote each value. */
  readonly #writers = new Map<string, Set<string>>();
  /** The scripts that took a key because it was absent. */
  readonly granting = new Set<string>();
  readonly #calls: Calls;
  readonly #patterns: readonly string[];
  readonly #pools: Pools;
  /** The hashes whose fields clients take because they are absent. */
  readonly #hashes = new Set<string>();
  readonly #decided = new Map<string, boolean>();

  constructor(run: RecordedRun, happenings: readonly Happening[], calls: Calls, pools: Pools) {
    this.#pools = pools;
    this.#calls = calls;
    this.#patterns = run.locks ?? [];
    for (const { kind, ...rest } of happenings)
      if (kind === 'write') calls.causeOf((rest as { write: RecordedWrite }).write);
    this.#readWrites(happenings);
    for (const call of calls.all) this.#readCall(call);
    for (const call of calls.all) this.#readUse(call);
  }

  /** True if the key is a lock. @param lock the name of the lock @param id the key, as `keyId` names it */
  isLock(lock: string, id: string): boolean {
    const known = this.#decided.get(id);
    if (known !== undefined) return known;
    const wanted = this.#wanted(lock, id);
    const facts = this.#facts.get(id);
    const isLock = wanted ?? (facts !== undefined && this.#whyNone(facts) === undefined);
    this.#decided.set(id, isLock);
    return isLock;
  }

  /** What the user says about a key: a lock, none, or nothing. */
  #wanted(lock: string, id: string): boolean | undefined {
    const names = [lock, id, lockName(id)];
    const matches = (pattern: string): boolean => names.some((name) => globMatch(pattern, name));
    if (this.#patterns.some((each) => each.startsWith('!') && matches(each.slice(1)))) return false;
    return this.#patterns.some((each) => !each.startsWith('!') && matches(each)) ? true : undefined;
  }

  /** True if clients take fields of the hash because they are absent. */
  hasFields(id: string): boolean {
    return this.#hashes.has(id);
  }

  /** True if the user says that the key is a lock. */
  isNamed(id: string): boolean {
    return this.#wanted(id, id) === true;
  }

  /** True if the user has excluded the lock, whatever its layout is. */
  isExcluded(lock: string): boolean {
    return this.#wanted(lock, lock) === false;
  }

  /** All commands that tried to set a key because it was absent. */
  attemptsOn(id: string): readonly TakeAttempt[] {
    return this.#facts.get(id)?.attempts ?? [];
  }

  /** The keys that clients set because they were absent, and that are no locks. */
  others(): OtherKey[] {
    return [...this.#facts].flatMap(([key, facts]) => {
      if (facts.attempts.length === 0 || this.isLock(key, key)) return [];
      const why = this.#whyNone(facts) ?? 'is excluded by `locks`';
      return [{ key, why, attempts: facts.attempts }];
    });
  }

  /** Why the key is no lock; undefined for a lock. */
  #whyNone({ attempts, changed, used, layout }: Facts): string | undefined {
    if (layout) return undefined;
    if (attempts.length === 0) return 'was never taken because it was absent';
    if (changed !== undefined) return changed;
    const values = new Set(attempts.map(({ value }) => value));
    const clients = new Set(attempts.map(({ call }) => call.client));
    if (values.size > 1 || used || asksAgain(attempts)) return undefined;
    const [value = ''] = values;
    const isShared = clients.size > 1 || (this.#writers.get(value)?.size ?? 0) > 1;
    return isShared || CONSTANT.test(value)
      ? 'has the same value for all clients, and no client compares it, renews it, deletes it or asks for it again'
      : undefined;
  }

  /** True for the keys of layouts that `lockWritesOf` knows. */
  #isOfLayout(key: string): boolean {
    return isBookkeeping(key) || SESSION.test(key) || READER.test(key) || this.#pools.isCounter(key);
  }

  #factsOf(id: string): Facts {
    let facts = this.#facts.get(id);
    if (facts === undefined)
      this.#facts.set(
        id,
        (facts = { attempts: [], changed: undefined, used: false, layout: false, given: false }),
      );
    return facts;
  }

  /** How the values of keys changed, and whether they were there before. */
  #readWrites(happenings: readonly Happening[]): void {
    const nodes = new Lineages<KeyOnNode>({ isKept: (_, id, kept) => kept.has(id) });
    for (const each of happenings) {
      nodes.follow(each);
      if (each.kind === 'flush') for (const { table } of nodes.serving) table.clear();
      if (each.kind !== 'write') continue;
      const { write } = each.write;
      const id = keyId(write);
      const state = nodes.writing(each.node, write.offset, each.at);
      const before = state.table.get(id);
      if (write.client !== undefined) this.#readWrite(each.write, id, before);
      const hasEnd =
        /^pexpireat$/i.test(write.command[0] ?? '') || write.command.some((word) => /^pxat$/i.test(word));
      const { type, holder } = write;
      state.set(
        id,
        type === 'none' ? undefined : { type, holder, hasEnd: hasEnd || before?.hasEnd === true },
        write.offset,
      );
    }
  }

  #readWrite(recorded: RecordedWrite, id: string, before: KeyOnNode | undefined): void {
    const { write } = recorded;
    const { command, type, holder, client = '' } = write;
    const call = this.#calls.causeOf(recorded);
    const effect = (command[0] ?? '').toLowerCase();
    if (this.#isOfLayout(write.key)) return;
    const facts = this.#factsOf(id);
    if (before !== undefined && EDITS.test(effect))
      facts.changed ??= `is also changed while it is there: ${client} sent ${effect.toUpperCase()}`;
    else if (type === 'none') facts.used ||= before !== undefined;
    else if (effect === 'pexpireat' || effect === 'persist') facts.used ||= before?.hasEnd === true;
    else if (type === 'hash') {
      if (call !== undefined && isOwnersHash(command, call, this.#calls)) {
        facts.layout = true;
        if (before === undefined) this.#attempt(call, id, command[2] ?? '', true);
      }
      if (effect !== 'hsetnx') this.#readField(command, id, client);
      else if (call !== undefined && isScript(call)) this.#takeField(call, id, command);
    } else if (type !== 'string') facts.changed ??= `is a ${type}, in no layout that is known`;
    else if (before !== undefined && (before.holder !== holder || holder === undefined)) {
      if (effect !== 'set' || !this.#isOverwriting(call, before.holder ?? '', holder ?? ''))
        facts.changed ??= `is also changed while it is there: ${client} sent ${(command[0] ?? '').toUpperCase()}`;
    } else if (
      before === undefined &&
      call?.name === 'set' &&
      !call.words.slice(3).some((word) => NX.test(word))
    )
      facts.given = true;
    else if (before === undefined && call !== undefined && isScript(call) && SETS.test(effect))
      this.#readScript(call, id, holder ?? '', setsCounter(write, call));
  }

  /** A client sets a field of a hash, in whose fields others may see locks. */
  #readField([name = '', , field = '']: readonly string[], id: string, client: string): void {
    const known = this.#facts.get(fieldId(id, field));
    if (known !== undefined && /^hset$|^hincrby/i.test(name))
      known.changed ??= `is also changed while it is there: ${client} sent ${name.toUpperCase()}`;
    if (known !== undefined && /^hdel$/i.test(name)) known.used = true;
  }

  /** A script takes a field of a hash because it is absent. */
  #takeField(call: SentCommand, id: string, [, , field = '', value = '']: readonly string[]): void {
    this.#hashes.add(id);
    this.granting.add(scriptOf(call) ?? '');
    this.#attempt(call, fieldId(id, field), value, true);
  }

  /** True for a script that compares the value with an argument before it sets another, or that grants by NX and takes over. */
  #isOverwriting(call: SentCommand | undefined, before: string, now: string): boolean {
    if (call === undefined || !isScript(call)) return false;
    const text = this.#calls.scripts.get(scriptOf(call) ?? '') ?? '';
    return call.words.includes(now) && (call.words.includes(before) || NX.test(text));
  }

  /** A script has set a key that was absent. It did so for that reason if it looks for the key first. */
  #readScript(call: SentCommand, id: string, value: string, isCounter: boolean): void {
    const script = scriptOf(call) ?? '';
    const text = this.#calls.scripts.get(script);
    if (text !== undefined && !ABSENCE.test(text)) return;
    this.granting.add(script);
    if (isCounter) this.#factsOf(id).changed ??= 'has a number that a script computes beside a lock';
    else this.#attempt(call, id, value, true);
  }

  #attempt(call: SentCommand, id: string, value: string, granted: boolean): void {
    this.#factsOf(id).attempts.push({ call, id, value, granted });
    const writers = this.#writers.get(value);
    if (writers === undefined) this.#writers.set(value, new Set([call.client]));
    else writers.add(call.client);
  }

  /** SET NX and its relatives, granted or not. */
  #readCall(call: SentCommand): void {
    const { name, words, executed, wrote } = call;
    if (executed === null) return;
    const [, key = '', value = '', last = ''] = words;
    const idOf = (each: string): string => keyId({ key: each, db: call.db });
    const granted = (each: string): boolean => wrote.has(each) || /^(?:ok|1)$/i.test(call.reply?.text ?? '');
    if (name === 'setnx' || (name === 'set' && words.slice(3).some((word) => /^nx$/i.test(word))))
      this.#attempt(call, idOf(key), value, granted(key));
    else if (name === 'hsetnx') {
      this.#hashes.add(idOf(key));
      this.#attempt(call, fieldId(idOf(key), value), last, granted(key));
    } else if (name === 'hsetex' && words.some((word) => /^fnx$/i.test(word))) {
      const [field = '', own = ''] = words.slice(words.findIndex((word) => /^fields$/i.test(word)) + 2);
      this.#hashes.add(idOf(key));
      this.#attempt(call, fieldId(idOf(key), field), own, granted(key));
    } else if (name === 'msetnx')
      for (let i = 1; i + 1 < words.length; i += 2)
        this.#attempt(call, idOf(words[i] ?? ''), words[i + 1] ?? '', granted(words[i] ?? ''));
  }

  /** Commands that compare the value of a key, even in vain; and scripts that asked for it in vain. */
  #readUse(call: SentCommand): void {
    const { name, words, executed } = call;
    if (executed === null) return;
    const [, key = ''] = words;
    const token = name === 'getdel' ? this.#facts.get(keyId({ key, db: call.db })) : undefined;
    if (token?.given === true && call.wrote.has(key))
      token.changed ??= 'is a token, which clients take with GETDEL and put back with SET';
    if (
      /^(?:delex|delifeq|watch)$/.test(name) ||
      (name === 'set' && words.some((word) => /^ifd?eq$/i.test(word)))
    ) {
      const facts = this.#facts.get(keyId({ key, db: call.db }));
      if (facts !== undefined) facts.used = true;
    }
    const script = scriptOf(call);
    if (script === undefined) return;
    for (const each of scriptKeys(call).keys) {
      const id = keyId({ key: each, db: call.db });
      const facts = this.#facts.get(id);
      if (facts === undefined || facts.attempts.length === 0) continue;
      const isGranting = this.granting.has(script);
      if (!isGranting && facts.attempts.some(({ value }) => words.includes(value))) facts.used = true;
      const value = scriptKeys(call).args.find((word) => !CONSTANT.test(word) && !/^\d+$/.test(word));
      if (isGranting && !call.wrote.has(each) && !facts.attempts.some((attempt) => attempt.call === call))
        this.#attempt(call, id, value ?? facts.attempts[0]?.value ?? '', false);
    }
  }
}

/**
 * True when a request sets a key, without a lease, to a number that it was not given, and changes other keys too: a counter, such as
 * that of fences, and no token.
 */
export function setsCounter({ command, holder = '' }: RecordedWrite['write'], call: SentCommand): boolean {
  return (
    /^\d+$/.test(holder) &&
    call.wrote.size > 1 &&
    !call.words.includes(holder) &&
    !command.some((word) => /^pxat$/i.test(word))
  );
}

/** True for a hash from owners to counts, which a script sets after it has looked for it; and for a read-write lock's. */
function isOwnersHash(
  [name = '', , field = '', value = '']: readonly string[],
  call: SentCommand,
  calls: Calls,
): boolean {
  if (!isScript(call) || !/^h(?:set|incrby)$/i.test(name)) return false;
  if (field === 'mode') return /^(?:read|write)$/.test(value);
  const text = calls.scripts.get(scriptOf(call) ?? '');
  return OWNER.test(field) && /^\d+$/.test(value) && (text === undefined || /exists/i.test(text));
}

/** True if a client that was refused has asked again. */
function asksAgain(attempts: readonly TakeAttempt[]): boolean {
  const order = [...attempts].sort((a, b) => (a.call.executed ?? 0) - (b.call.executed ?? 0));
  const refused = new Set<string>();
  const granted = new Set<string>();
  for (const { call, granted: isGranted } of order) {
    if (refused.has(call.client)) return true;
    if (isGranted) granted.add(call.client);
    else if (!granted.has(call.client)) refused.add(call.client);
  }
  return false;
}
