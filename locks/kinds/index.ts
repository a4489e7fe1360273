/**
 * The registry of the kinds of lock: what each one needs and promises, and which lists of kinds leave it out, and why. Tests,
 * the campaign, the bench, the pages and the playground go by it, so a new kind is in all of them once it has an entry here.
 */
import type { Lock } from '../asking/lock.ts';
import type { HeldLock } from '../holding/hold-handle.ts';
import type { Locks } from '../index.ts';
import { prefixed, suffixed } from '../keys.ts';

/** A kind of lock: a method of Locks that makes one. A new method does not compile until `kinds` has an entry for it. */
export type LockKind = Exclude<keyof Locks, 'run' | 'on' | 'off' | 'close' | typeof Symbol.asyncDispose>;

/** The lists of kinds, by what they are about, with the files that use them. */
export const KIND_LISTS = {
  conformance: 'test/locks/conformance/basic.ts',
  failover: 'test/locks/conformance/sentinel.realtime.beside.test.ts',
  'messages in a cluster': 'test/locks/clients/clients.realtime.beside.test.ts',
  'odd clients': 'test/locks/odd-uses.realtime.beside.test.ts',
  'aborted requests': 'test/locks/asking/waiting.test.ts',
  'late grants': 'test/locks/asking/waiting.test.ts',
  'short leases': 'test/locks/asking/never-held.realtime.test.ts',
  'waits of one owner': 'test/locks/asking/line.test.ts',
  'holds of one owner': 'test/locks/kinds/own-holds.test.ts',
  're-entry': 'test/locks/conformance/shared.ts',
  replicas: 'test/locks/server/replicated.realtime.beside.test.ts',
  'lost replies': 'test/locks/server/lost-replies.realtime.beside.test.ts',
  releases: 'test/locks/every-kind.ts',
  soak: 'test/locks/lives/soak.realtime.beside.test.ts',
  failures: 'test/locks/failures/lab.ts',
  'no memory': 'test/locks/failures/refused.ts',
  'other data': 'test/locks/failures/refused.ts',
  campaign: 'test/locks/campaign/draw.ts',
  redisson: 'test/clients/redisson/run.ts',
  bench: 'bench/locks.ts',
  playground: 'playground/cases/our-locks.ts',
  'which lock': 'docs/which-lock.md',
  'using locks': 'docs/using-locks.md',
} as const;

/** The name of a list of kinds. */
export type KindList = keyof typeof KIND_LISTS;

/** Why lists leave something out. */
type Reasons = { readonly [list in KindList]?: string };

/** One way to use a kind as a lock: most kinds have one, and a read-write lock has two. */
export interface LockForm {
  /** Makes the lock of a name. Undefined when that has to be awaited. */
  readonly make?: (locks: Locks, name: string) => Lock<HeldLock>;
  /** Makes the lock of a name, where that has to be awaited. */
  readonly open?: (locks: Locks, name: string) => Promise<Lock<HeldLock>>;
  /** What has to be called once, before the first acquisition: a pool gets this many permits. */
  readonly setUp?: (locks: Locks, name: string, permits: number) => Promise<unknown>;
  /** The key that exists while somebody holds the lock; undefined when it has none of its own. */
  readonly key?: (name: string) => string;
  /** The key with the lease: as its TTL, or as the smallest score of a sorted set. Default: `key`. */
  readonly leaseKey?: (name: string) => string;
  /** The lists that leave only this form out, and why. */
  readonly notIn?: Reasons;
}

/** What a kind needs and promises. */
export interface KindEntry {
  /** What titles of tests and stories call it. */
  readonly title: string;
  /** The independent servers that it needs. */
  readonly primaries: number;
  /** Whether its holds end by themselves. */
  readonly leased: boolean;
  /** Whether an owner that holds it may acquire it again. */
  readonly reentrant: boolean;
  /** Whether it is granted in the order in which its waiters came. */
  readonly inOrder: boolean;
  /** True if its scripts take back what has ended only when they run the next time. */
  readonly swept?: true;
  /** True if the key of its name has a number that stays, such as that of its permits. */
  readonly counts?: true;
  /** Its forms by name, as the titles of tests say them. Empty when nothing of it is acquired and released as a lock. */
  readonly forms: Readonly<Record<string, LockForm>>;
  /** The lists that leave it out, and why. */
  readonly notIn: Reasons;
}

const itself = (name: string): string => name;

const NOT_REENTRANT = 'its owner cannot acquire it again';
const ONE_HOLD = {
  'waits of one owner': NOT_REENTRANT,
  'holds of one owner': NOT_REENTRANT,
  're-entry': NOT_REENTRANT,
} as const satisfies Reasons;
const NOT_IN_REDISSON = 'Redisson has no such kind';
const PARTS = 'its parts are locks of other kinds, which the list has';
const MANY_SERVERS = 'it needs several servers; test/locks/kinds/redlock*.test.ts has its cases';
const POOL = 'several clients hold it at once; test/locks/conformance/shared.ts has its cases';
const NO_MESSAGES = 'only a release of the last hold wakes anybody, and the other forms test that';
const READ_WRITE = 'the file has cases for the holds of readers and writers';
const AS_PERMITS = 'it is one expirable permit, which the list has';
const AS_NON_REENTRANT = 'a non-reentrant lock is one of its permits, and the list has that';
const WITHOUT_LEASE = 'its holds have no lease';
const ADDS = 'the server refuses ZADD when it has no memory left, so a renewal is refused too';
const UNRIVALLED = 'the bench compares what other libraries have: one holder, on one server';
const FEW_HOLDERS = 'it grants to several clients at once, so it cannot keep one out';
const IN_SESSION =
  'its locks need a session that stays open; test/locks/kinds/session.realtime.test.ts has its cases';

/** One reason for all lists that acquire a lock and release it, but those that have it after all. */
function alone(why: string, ...but: KindList[]): Reasons {
  return Object.fromEntries(ACQUIRING.filter((list) => !but.includes(list)).map((list) => [list, why]));
}

const ACQUIRING: readonly KindList[] = [
  'conformance',
  'failover',
  'messages in a cluster',
  'odd clients',
  'aborted requests',
  'late grants',
  'short leases',
  'waits of one owner',
  'holds of one owner',
  're-entry',
  'replicas',
  'lost replies',
  'soak',
  'failures',
  'no memory',
  'other data',
];

const registry = {
  simple: {
    title: 'simple',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: false,
    forms: { simple: { make: (locks, name) => locks.simple(name), key: itself } },
    notIn: {
      ...ONE_HOLD,
      redisson: NOT_IN_REDISSON,
    },
  },
  reentrant: {
    title: 'reentrant',
    primaries: 1,
    leased: true,
    reentrant: true,
    inOrder: false,
    forms: { reentrant: { make: (locks, name) => locks.reentrant(name), key: itself } },
    notIn: {},
  },
  fenced: {
    title: 'fenced',
    primaries: 1,
    leased: true,
    reentrant: true,
    inOrder: false,
    forms: { fenced: { make: (locks, name) => locks.fenced(name), key: itself } },
    notIn: { bench: UNRIVALLED },
  },
  fair: {
    title: 'fair',
    primaries: 1,
    leased: true,
    reentrant: true,
    inOrder: true,
    swept: true,
    forms: { fair: { make: (locks, name) => locks.fair(name), key: itself } },
    notIn: { 'waits of one owner': 'each of its waits has a place of its own in the line' },
  },
  queue: {
    title: 'queue',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: true,
    swept: true,
    forms: {
      queue: {
        make: (locks, name) => locks.queue(name),
        key: (name) => prefixed('lostlock_queue', name),
        leaseKey: (name) => suffixed(name, 'lostlock_queue_seen'),
      },
    },
    notIn: {
      'no memory': ADDS,
      ...ONE_HOLD,
      redisson: NOT_IN_REDISSON,
      bench: UNRIVALLED,
    },
  },
  nonReentrant: {
    title: 'non-reentrant',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: false,
    swept: true,
    counts: true,
    forms: {
      'non-reentrant': {
        make: (locks, name) => locks.nonReentrant(name),
        key: (name) => suffixed(name, 'timeout'),
      },
    },
    notIn: {
      'no memory': ADDS,
      ...ONE_HOLD,
      'lost replies': AS_PERMITS,
      redisson: AS_PERMITS,
      bench: UNRIVALLED,
      'which lock': AS_PERMITS,
    },
  },
  readWrite: {
    title: 'read-write',
    primaries: 1,
    leased: true,
    reentrant: true,
    inOrder: false,
    forms: {
      read: {
        make: (locks, name) => locks.readWrite(name).read,
        key: itself,
        notIn: {
          conformance: POOL,
          'late grants': FEW_HOLDERS,
          failures: FEW_HOLDERS,
          failover: FEW_HOLDERS,
          'messages in a cluster': NO_MESSAGES,
          'odd clients': NO_MESSAGES,
          'waits of one owner': 'readers do not wait for each other',
          're-entry': READ_WRITE,
          'holds of one owner': 'each read hold has a lease of its own; the file has cases for them',
        },
      },
      write: {
        make: (locks, name) => locks.readWrite(name).write,
        key: itself,
        notIn: { 're-entry': READ_WRITE },
      },
    },
    notIn: { soak: 'the file has an entry whose clients read and write in turn', bench: UNRIVALLED },
  },
  multi: {
    title: 'multi',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: false,
    forms: {
      multi: {
        make: (locks, name) => locks.multi([locks.simple(name), locks.reentrant(`${name}, too`)]),
        notIn: alone(PARTS, 'short leases'),
      },
    },
    notIn: { redisson: PARTS, bench: UNRIVALLED },
  },
  redlock: {
    title: 'redlock',
    primaries: 3,
    leased: true,
    reentrant: false,
    inOrder: false,
    forms: { redlock: { make: (locks, name) => locks.redlock(name), notIn: alone(MANY_SERVERS) } },
    notIn: { redisson: 'Redisson has deprecated its Redlock', bench: UNRIVALLED },
  },
  expirablePermits: {
    title: 'expirable permits',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: false,
    swept: true,
    counts: true,
    forms: {
      'expirable permits': {
        make: (locks, name) => locks.expirablePermits(name),
        setUp: (locks, name, permits) => locks.expirablePermits(name).trySetPermits(permits),
        key: (name) => suffixed(name, 'timeout'),
      },
    },
    notIn: {
      'no memory': ADDS,
      conformance: POOL,
      'late grants': AS_NON_REENTRANT,
      failures: AS_NON_REENTRANT,
      failover: AS_NON_REENTRANT,
      'messages in a cluster': AS_NON_REENTRANT,
      'short leases': AS_NON_REENTRANT,
      ...ONE_HOLD,
      replicas: AS_NON_REENTRANT,
      bench: UNRIVALLED,
    },
  },
  semaphore: {
    title: 'semaphore',
    primaries: 1,
    leased: false,
    reentrant: false,
    inOrder: false,
    counts: true,
    forms: {
      semaphore: {
        make: (locks, name) => locks.semaphore(name),
        setUp: (locks, name, permits) => locks.semaphore(name).trySetPermits(permits),
        notIn: {
          'short leases': WITHOUT_LEASE,
          replicas: 'no key names the holder of a permit',
        },
      },
    },
    notIn: {
      bench: UNRIVALLED,
      'no memory':
        'the server refuses INCRBY when it has no memory left, so a release is refused and goes on',
      conformance: POOL,
      'late grants': POOL,
      failures: POOL,
      failover: POOL,
      'messages in a cluster': 'the file has cases for its permits',
      ...ONE_HOLD,
    },
  },
  latch: {
    title: 'latch',
    primaries: 1,
    leased: false,
    reentrant: false,
    inOrder: false,
    counts: true,
    forms: {},
    notIn: {
      ...alone('it is waited for, and nobody holds it; test/locks/kinds/latch.test.ts has its cases'),
      releases: 'nobody holds a latch',
      bench: UNRIVALLED,
      'which lock': 'it excludes nobody',
    },
  },
  segmented: {
    title: 'segmented',
    primaries: 1,
    leased: true,
    reentrant: false,
    inOrder: false,
    forms: {},
    notIn: {
      ...alone(
        'an acquisition gives a segment with its lock; test/locks/kinds/segmented.realtime.test.ts has its cases',
      ),
      redisson: NOT_IN_REDISSON,
      bench: 'it is in bench/oversell',
    },
  },
  session: {
    title: 'session',
    primaries: 1,
    leased: false,
    reentrant: false,
    inOrder: false,
    swept: true,
    forms: {
      session: {
        open: async (locks, name) => (await locks.session()).lock(name),
        key: itself,
        notIn: { 'short leases': WITHOUT_LEASE },
      },
    },
    notIn: {
      conformance: IN_SESSION,
      'late grants': IN_SESSION,
      failures: IN_SESSION,
      failover: IN_SESSION,
      'messages in a cluster': 'sessions do not work on a cluster',
      'odd clients': IN_SESSION,
      ...ONE_HOLD,
      'lost replies': IN_SESSION,
      soak: IN_SESSION,
      redisson: NOT_IN_REDISSON,
      bench: UNRIVALLED,
      'which lock': 'it is a lifetime for locks and no way to share anything',
    },
  },
} as const satisfies Record<LockKind, KindEntry>;

export const kinds: Readonly<Record<LockKind, KindEntry>> = registry;

/** What titles of tests and stories call a kind. */
export type KindTitle = (typeof registry)[LockKind]['title'];

/** A form with the kind that it belongs to. */
export interface ListedForm extends LockForm {
  readonly name: string;
  /** Makes the lock of a name. @throws Error when that has to be awaited */
  readonly make: (locks: Locks, name: string) => Lock<HeldLock>;
  /** Makes the lock of a name. */
  readonly open: (locks: Locks, name: string) => Promise<Lock<HeldLock>>;
  readonly kind: LockKind;
  /** The independent servers that it needs. */
  readonly primaries: number;
  /** Whether its holds end by themselves. */
  readonly leased: boolean;
  /** Whether it is granted in the order in which its waiters came. */
  readonly inOrder: boolean;
}

/** The names of all kinds, in the order of the registry. */
export const kindNames = Object.keys(kinds) as LockKind[];

export function titlesOf(names: readonly LockKind[]): KindTitle[] {
  return names.map((kind) => registry[kind].title);
}

/** Why a list leaves a kind out; undefined when the kind has to be in the list. */
export function reasonAgainst(kind: LockKind, list: KindList): string | undefined {
  return kinds[kind].notIn[list];
}

export function kindsIn(list: KindList): LockKind[] {
  return kindNames.filter((kind) => reasonAgainst(kind, list) === undefined);
}

export function formsIn(list: KindList): ListedForm[] {
  return kindsIn(list).flatMap((kind) => {
    const { primaries, leased, inOrder, forms } = kinds[kind];
    return Object.entries(forms)
      .filter(([, form]) => form.notIn?.[list] === undefined)
      .map(([name, form]) => ({ ...form, ...waysOf(name, form), name, kind, primaries, leased, inOrder }));
  });
}

function waysOf(form: string, { make, open }: LockForm): Pick<ListedForm, 'make' | 'open'> {
  if (make === undefined && open === undefined)
    throw new Error(`the form '${form}' has neither make nor open`);
  return {
    make(locks, name) {
      if (make === undefined) throw new Error(`the ${form} lock has to be awaited: use open()`);
      return make(locks, name);
    },
    open: async (locks, name) => make?.(locks, name) ?? (open as ListedForm['open'])(locks, name),
  };
}
