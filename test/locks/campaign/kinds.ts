/** The locks that a client of the campaign uses, by kind, and which holders exclude each other. */
import type { AcquireOptions, HeldLock, Lock, Locks, Session } from '../../../locks/index.ts';
import { formsIn, kinds } from '../../../locks/kinds/index.ts';
import { REENTRANT } from './draw.ts';
import type { Rules } from './judge.ts';
import type { KindName, Life, Plan } from './plan.ts';

/** The names of all locks; a multi has one for each of its parts. */
export const NAMES = ['L', 'M'] as const;

/** What an acquisition gives, with how it counts. */
export interface Entry {
  readonly held: HeldLock;
  readonly lock: string;
  readonly shared: boolean;
  readonly units: number;
  readonly rules: Rules;
}

const BY_OWNER: Rules = { byOwner: true };
const ALONE: Rules = { byOwner: false };

const rulesOf = (kind: KindName): Rules => (REENTRANT.includes(kind) ? BY_OWNER : ALONE);

/** The forms by what the campaign calls their kinds; that of a read-write lock depends on the life. */
const makers = new Map(formsIn('campaign').map(({ kind, make }) => [kinds[kind].title as KindName, make]));

function single(locks: Locks, kind: KindName, name: string, mode: Life['mode']): Lock<HeldLock> {
  if (kind === 'fenced by the clock') return locks.fenced(name, { fence: 'clock' });
  if (kind === 'read-write') return locks.readWrite(name)[mode];
  const make = makers.get(kind);
  if (make === undefined)
    throw new Error(`${kind} is no lock of its own: say in test/locks/campaign/ how it is used`);
  return make(locks, name);
}

/** What one client uses. Its session is opened when it is first needed, and again after it was lost. */
export class Kit {
  readonly locks: Locks;
  readonly #plan: Plan;
  #session: Promise<Session> | undefined;

  constructor(locks: Locks, plan: Plan) {
    this.locks = locks;
    this.#plan = plan;
  }

  /** Acquires what a life asks for. */
  async acquire(life: Life, options: AcquireOptions, tries: boolean): Promise<Entry[] | null> {
    const { kind, units } = this.#plan;
    if (kind === 'segmented') {
      const { held } = await this.locks.segmented('L', { segments: units }).acquire(options);
      return [entry(held, held.name, ALONE)];
    }
    const lock = await this.lockFor(life);
    const held = await (tries ? lock.tryAcquire(options) : lock.acquire(options));
    return held && this.entries(life, held);
  }

  /** The lock that a life asks for; segments are chosen by the segmented lock itself. */
  async lockFor(life: Life): Promise<Lock<HeldLock>> {
    const { kind, parts } = this.#plan;
    if (kind === 'session') return (await this.session()).lock('L');
    if (kind !== 'multi') return single(this.locks, kind, 'L', life.mode);
    const all = parts.map((part, index) => single(this.locks, part, NAMES[index] as string, life.mode));
    return life.part === 'all' ? this.locks.multi(all) : (all[life.part] as Lock<HeldLock>);
  }

  /** How the judge counts what a life was granted. */
  entries(life: Life, held: HeldLock): Entry[] {
    const { kind, parts, units } = this.#plan;
    if (kind === 'multi') {
      const taken = life.part === 'all' ? [0, 1] : [life.part];
      return taken.map((part) => {
        const of = parts[part] as KindName;
        return entry(held, NAMES[part] as string, rulesOf(of), of === 'read-write' && life.mode === 'read');
      });
    }
    if (kind === 'semaphore') return [entry(held, 'L', { byOwner: false, units }, true, life.permits)];
    if (kind === 'expirable permits') return [entry(held, 'L', { byOwner: false, units }, true)];
    return [entry(held, 'L', rulesOf(kind), kind === 'read-write' && life.mode === 'read')];
  }

  /** The key of its session, if it has opened one. */
  async sessionKey(): Promise<string | undefined> {
    return (await this.#session?.catch(() => undefined))?.key;
  }

  async session(): Promise<Session> {
    const before = this.#session;
    if (before !== undefined) {
      const session = await before.catch(() => undefined);
      if (session && !session.signal.aborted) return session;
    }
    if (this.#session === before) this.#session = this.locks.session();
    return this.#session as Promise<Session>;
  }
}

function entry(held: HeldLock, lock: string, rules: Rules, shared = false, units = 1): Entry {
  return { held, lock, rules, shared, units };
}
