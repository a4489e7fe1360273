/** The code that meets the planted defects: clients of our locks, and of a sample library. */
import type { ClientSession, ExploreOptions } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';
import type { Mutant } from './mutants.ts';
import { type Granted, sampleAcquire } from './sample.ts';
import { asHeld, LEASE, none, STEP, work } from './work.ts';

const PERMITS = 2;
/** How often a client goes in, where the first time shows too little: others are inside when it comes back. */
const ROUNDS = 2;

function writes({ name }: ClientSession): boolean {
  return name !== 'A' && name !== 'B';
}

function sampled(
  take: 'acquire' | 'enter',
  give: 'release' | 'leave',
  keys: readonly string[],
): (session: ClientSession) => Promise<Granted> {
  return ({ redis, name, sleep }) =>
    sampleAcquire(redis, { take, give }, keys, { name, lease: LEASE, permits: PERMITS, sleep });
}

/** Goes in as often as ROUNDS says. */
function often(once: (session: ClientSession) => Promise<void>): ExploreOptions['client'] {
  return async (session) => {
    // When the world is about to end, a client that only looks whether the lock is free goes in once.
    for (let round = 0; round === 0 || (round < ROUNDS && !session.signal.aborted); round++)
      await once(session);
  };
}

/** What the clients of each subject do. */
export const subjects: Readonly<Record<Mutant['subject'], ExploreOptions['client']>> = {
  simple: async (session) => {
    await using locks = createLocks(session.redis);
    await work(session, asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE })));
  },
  reentrant: often(async (session) => {
    await using locks = createLocks(session.redis);
    const lock = locks.reentrant('lock');
    if (session.name !== 'A') {
      // Under a name, as an owner that may come back.
      await work(session, asHeld(await lock.acquire({ leaseMs: LEASE, owner: session.name })));
      return;
    }
    // The inner hold ends first: then the outer one must still be there.
    await lock.using({ leaseMs: LEASE }, async (outer) => {
      await lock.using({ leaseMs: LEASE }, () => session.sleep(STEP));
      await work(session, { ...asHeld(outer), release: none });
    });
  }),
  fenced: async (session) => {
    await using locks = createLocks(session.redis);
    const held = await locks.fenced('lock').acquire({ leaseMs: LEASE });
    await work(session, asHeld(held), { enter: { fence: held.fence as number } });
  },
  readers: often(async (session) => {
    await using locks = createLocks(session.redis);
    const shared = !writes(session);
    const lock = locks.readWrite('lock')[shared ? 'read' : 'write'];
    const held = asHeld(await lock.acquire({ leaseMs: LEASE }));
    await work(session, { ...held, extend: none }, { enter: { shared } });
  }),
  lock: async (session) => {
    const held = await sampled('acquire', 'release', ['lock', 'fence'])(session);
    session.resource('numbers').enter({ fence: held.fence }).leave();
    await work(session, held);
  },
  semaphore: often(async (session) => {
    const held = await sampled('enter', 'leave', ['permits'])(session);
    await work(session, { ...held, extend: none }, { enter: { permits: 1 }, permits: PERMITS });
  }),
  sharing: async (session) => {
    const { redis, name, sleep } = session;
    const names = writes(session)
      ? ({ take: 'write', give: 'release' } as const)
      : ({ take: 'read', give: 'leave' } as const);
    const gives = writes(session) ? ['writer'] : ['readers'];
    const held = await sampleAcquire(redis, names, ['readers', 'writer'], {
      name,
      lease: LEASE,
      sleep,
      gives,
    });
    await work(session, { ...held, extend: none }, { enter: { shared: !writes(session) } });
  },
};

/** How many clients: of readers and writers, two each. */
export function clientsOf(subject: Mutant['subject']): number {
  return subject === 'readers' || subject === 'sharing' ? 4 : 3;
}
