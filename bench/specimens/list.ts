/** The failures of docs/scenarios.md and of the ladder as code to explore: an unsafe form, and one that survives the same faults. */
import type { ExploreOptions, FaultName, History, UserPromise } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';
import type { FailureId } from '../../test/catalogue/failures.ts';
import { asHeld, LEASE, none, work } from '../libraries/work.ts';
import {
  type Client,
  counting,
  countsTwice,
  extend,
  fenced,
  fresh,
  give,
  handedOver,
  inside,
  listening,
  lock,
  majority,
  ours,
  PERMITS,
  permitted,
  plain,
  reentrant,
  renewed,
  renewing,
  STEP,
  take,
  until,
  WORK,
  waiting,
} from './forms.ts';

/** One failure of the catalogue, whose mistake `mistakeOf` says. */
export interface Specimen extends Pick<ExploreOptions, 'topology' | 'promises'> {
  readonly number: FailureId;
  /** What both forms meet. */
  readonly faults: readonly FaultName[];
  readonly unsafe: Client;
  readonly safe: Client;
  /** What the safe form does. */
  readonly cure: string;
}

/** What a client, the network and a server with a disk can suffer without losing a write. */
const CALM: readonly FaultName[] = [
  ...(['client-pause', 'client-death', 'partition', 'delay', 'lost-request', 'lost-reply'] as const),
  ...(['connection-reset', 'node-pause', 'restart-disk', 'script-flush', 'busy', 'out-of-memory'] as const),
];
const FAILOVERS: readonly FaultName[] = [...CALM, 'failover', 'failover-behind', 'read-only'];
const EXCLUSION: ExploreOptions['promises'] = ['mutual-exclusion'];

/** A promise: every client enters at least once, unless a client was killed. */
function everybodyGetsIn({ lanes, visits, faults }: History): string | undefined {
  if (faults.some(({ kind }) => kind === 'client-death')) return undefined;
  const clients = lanes.filter((name) => /^[A-Z]$/.test(name));
  const left = clients.find((name) => !visits.some(({ client }) => client === name));
  return left && `${left} waits for ever`;
}

const own: readonly UserPromise[] = [everybodyGetsIn];
/** What may strike a client that waits for a message: its code does not handle errors of commands. */
const NETWORK: readonly FaultName[] = ['client-pause', 'connection-reset', 'node-pause', 'script-flush'];
const SOLVED = 'simple lock of lostlock/locks';
const FENCED = "fenced lock of lostlock/locks, fence: 'clock', replicas: 1; the resource checks the fence";

/** All of them, by number. */
export const specimens: readonly Specimen[] = [
  {
    ...{ number: 'S1', faults: CALM, promises: ['no-orphan'], cure: 'SET NX PX' },
    unsafe: lock({
      take: async ({ redis }, token) => {
        const got = await redis.setnx('lock', token);
        if (got === 1) await redis.pexpire('lock', LEASE);
        return got;
      },
    }),
    safe: plain,
  },
  {
    ...{
      number: 'S2',
      faults: CALM,
      promises: ['no-orphan', 'progress'],
    },
    unsafe: lock({
      take: async ({ redis }, token) => {
        const got = await redis.setnx('lock', token);
        await redis.pexpire('lock', LEASE);
        return got;
      },
    }),
    ...{ safe: plain, cure: 'SET NX PX' },
  },
  {
    ...{ number: 'S3', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ give: ({ redis }) => redis.del('lock').catch(() => 0) }),
    ...{ safe: plain, cure: 'compare and delete in a script' },
  },
  {
    ...{ number: 'S4', faults: CALM, promises: EXCLUSION },
    unsafe: lock({
      give: async ({ redis }, token) => {
        if ((await redis.get('lock')) === token) await redis.del('lock');
      },
    }),
    ...{ safe: plain, cure: 'compare and delete in a script' },
  },
  {
    ...{ number: 'S5', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ token: () => 'worker' }),
    ...{ safe: plain, cure: 'a random token for each acquisition' },
  },
  {
    ...{ number: 'S7', faults: CALM, promises: EXCLUSION },
    unsafe: lock({
      ms: 2 * LEASE,
      believes: 'always',
      beside: renewing(({ redis }, token) => redis.set('lock', token, 'PX', LEASE)),
    }),
    ...{ safe: renewed, cure: SOLVED },
  },
  {
    ...{ number: 'S9', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ ms: 1.5 * LEASE, believes: 'always' }),
    ...{ safe: lock({ ms: 1.5 * LEASE }), cure: 'stops when the lease is over' },
  },
  {
    ...{ number: 'S10', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ believes: 'always' }),
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S11', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ ms: 2 * LEASE, believes: 'from the reply' }),
    ...{ safe: lock({ ms: 2 * LEASE }), cure: 'counted from the request' },
  },
  {
    ...{
      number: 'S16',
      faults: ['clock-jump'],
      promises: EXCLUSION,
    },
    unsafe: lock({ believes: 'always' }),
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S20', faults: ['restart-empty'] },
    ...{ promises: EXCLUSION, unsafe: plain, safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S24', faults: CALM, promises: EXCLUSION },
    unsafe: lock({ give: (session) => until(session, () => session.redis.del('lock').then(() => true)) }),
    ...{ safe: ours, cure: SOLVED },
  },
  {
    ...{ number: 'S25', faults: CALM },
    ...{
      promises: EXCLUSION,
      unsafe: countsTwice,
      safe: reentrant,
      cure: 're-entrant lock of lostlock/locks',
    },
  },
  {
    ...{ number: 'S30', faults: FAILOVERS },
    ...{ promises: EXCLUSION, unsafe: plain, safe: fenced, cure: FENCED },
  },
  {
    ...{
      number: 'S31',
      faults: FAILOVERS,
      promises: EXCLUSION,
    },
    unsafe: waiting(async (session, token) => {
      const got = await take(session, token);
      if (got === 'OK') await session.redis.wait(1, 50);
      return got === 'OK';
    }),
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S34', faults: FAILOVERS, promises: EXCLUSION },
    unsafe: async (session) => {
      // WAIT is about the last command of its own connection, which this one sent before the lock was taken.
      const other = session.connect();
      other.on('error', () => {});
      await other.ping();
      const copied = async (token: string): Promise<boolean> => {
        if ((await take(session, token)) !== 'OK') return false;
        const copies = await other.wait(1, 50);
        if (copies < 1) await give(session, token);
        return copies >= 1;
      };
      await lock({ take: (_, token) => copied(token) })(session);
    },
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S35', faults: FAILOVERS, promises: EXCLUSION },
    unsafe: waiting(async ({ redis }, token) => {
      const replies = await redis.multi().set('lock', token, 'PX', LEASE, 'NX').wait(1, 50).exec();
      return replies?.[0]?.[1] === 'OK';
    }),
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{ number: 'S36b', faults: FAILOVERS },
    ...{ promises: EXCLUSION, unsafe: handedOver(false), safe: handedOver(true) },
    cure: 'writes the lock again as it is, and then asks WAIT',
  },
  {
    ...{ number: 'S56', faults: FAILOVERS },
    promises: ['fencing'],
    unsafe: async (session) => {
      const token = fresh(session.name);
      await until(session, () => take(session, token));
      await inside(session, { fence: await session.redis.incr('fence') });
      await give(session, token);
    },
    ...{ safe: fenced, cure: FENCED },
  },
  {
    ...{
      number: 'S63',
      faults: ['delay', 'node-pause'],
      promises: EXCLUSION,
    },
    topology: { primaries: 3 },
    unsafe: majority((votes, of) => votes > of / 2),
    safe: async (session) => {
      await using locks = createLocks(session.servers as never);
      const held = asHeld(await locks.redlock('lock').acquire({ leaseMs: LEASE }));
      await work(session, { ...held, extend: none });
    },
    cure: 'Redlock of lostlock/locks',
  },
  {
    ...{
      number: 'S69',
      faults: ['connection-reset'],
    },
    ...{ topology: { primaries: 2 }, promises: EXCLUSION, cure: 'more than half' },
    unsafe: majority((votes, of) => votes >= of / 2),
    safe: majority((votes, of, took) => votes > of / 2 && took < LEASE / 2),
  },
  {
    ...{ number: 'S70', faults: NETWORK },
    ...{ promises: own, unsafe: listening(true), safe: ours, cure: SOLVED },
  },
  {
    ...{ number: 'S71', faults: NETWORK },
    ...{ promises: own, unsafe: listening(false), safe: ours, cure: SOLVED },
  },
  {
    ...{ number: 'S82', faults: CALM, promises: ['no-orphan'] },
    unsafe: lock({ beside: renewing(({ redis }) => redis.pexpire('lock', LEASE), false) }),
    ...{ safe: lock({ beside: renewing(extend) }), cure: 'the watchdog ends first, and compares the token' },
  },
  {
    ...{
      number: 'S85',
      faults: CALM,
      promises: EXCLUSION,
    },
    unsafe: lock({ ms: 2 * LEASE, believes: 'always', beside: renewing(extend) }),
    ...{ safe: renewed, cure: SOLVED },
  },
  {
    ...{
      number: 'S102',
      faults: CALM,
      promises: ['no-orphan', 'progress'],
    },
    unsafe: counting(({ redis }) => redis.incr('free').catch(() => 0), 1),
    ...{ safe: permitted(1), cure: 'expirable permits of lostlock/locks' },
  },
  {
    ...{ number: 'S103', faults: CALM, promises: ['permits'] },
    unsafe: counting((session) => until(session, () => session.redis.incr('free')), PERMITS),
    ...{ safe: permitted(PERMITS), cure: 'expirable permits of lostlock/locks' },
  },
  {
    ...{ number: 'S106', faults: FAILOVERS, promises: ['permits'] },
    unsafe: counting(({ redis }) => redis.incr('free').catch(() => 0), PERMITS),
    ...{ safe: permitted(PERMITS, 1), cure: 'expirable permits of lostlock/locks, replicas: 1' },
  },
  {
    ...{
      number: 'S117',
      faults: CALM,
      promises: EXCLUSION,
    },
    unsafe: async (session) => {
      const token = fresh(session.name);
      await until(session, () => take(session, token));
      const visit = session.resource('stock').enter();
      await session.sleep(WORK);
      await give(session, token);
      await session.sleep(STEP);
      visit.write();
      visit.leave();
    },
    ...{ safe: plain, cure: 'release last' },
  },
  {
    ...{ number: 'S125', faults: ['node-pause'] },
    promises: EXCLUSION,
    unsafe: lock({ ms: 2 * LEASE, believes: 'always', beside: renewing(extend) }),
    ...{ safe: renewed, cure: SOLVED },
  },
  {
    ...{ number: 'S128', faults: ['partition'] },
    promises: EXCLUSION,
    unsafe: lock({ ms: 2 * LEASE, believes: 'always', beside: renewing(extend) }),
    ...{ safe: renewed, cure: SOLVED },
  },
  {
    ...{ number: 'S59', promises: EXCLUSION },
    ...{ topology: { cluster: 3, replicas: 1 }, faults: ['failover', 'failover-behind'] },
    ...{ unsafe: plain, safe: fenced, cure: FENCED },
  },
];
