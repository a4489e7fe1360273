/** Four defects that our locks once had, each with the code that meets it. They are planted back one at a time. */
import type { ClientSession, ExploreOptions, FaultName, History } from '../../explore/index.ts';
import { type Inside, present } from '../../lab/time/current-world.ts';
import { createLocks, fromIoredis, type Locks } from '../../locks/index.ts';
import { readReleaseScript } from '../../locks/scripts/read-write.ts';
import { type Plant, plantInClient } from '../../test/locks/campaign/plants.ts';
import { plantInScript } from './planting.ts';
import { asHeld, LEASE, none, work } from './work.ts';

/** A defect. */
export interface Defect extends Pick<ExploreOptions, 'client' | 'faults' | 'promises'> {
  readonly name: string;
  /** Plants it. Returns what removes it. */
  plant(): () => void;
}

/** The faults that a lock with one replica survives, if it waits for the replica. */
const FAILOVERS: readonly FaultName[] = [
  ...(['failover', 'failover-behind', 'client-pause', 'client-death', 'delay', 'partition'] as const),
  ...(['lost-request', 'lost-reply', 'connection-reset', 'node-pause'] as const),
];
/** The long and the short lease of a reader that has both, in milliseconds. */
const [LONG, SHORT] = [3000, 300];

let planted: Plant | undefined;

function plantOf(plant: Plant): () => () => void {
  return () => {
    planted = plant;
    return () => {
      planted = undefined;
    };
  };
}

function locksOf({ redis }: ClientSession): Locks {
  return createLocks(plantInClient(fromIoredis(redis), planted), { replicas: 1 });
}

const replicated: ExploreOptions['client'] = async (session) => {
  await using locks = locksOf(session);
  await work(session, asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE })));
};

/** A reader with a long and a short lease, which ends the short one; the others write. */
const twoLeases: ExploreOptions['client'] = async (session) => {
  await using locks = createLocks(session.redis);
  const { read, write } = locks.readWrite('lock');
  if (session.name !== 'A') {
    await work(session, { ...asHeld(await write.acquire({ leaseMs: LEASE })), extend: none });
    return;
  }
  const short = await read.acquire({ leaseMs: SHORT, owner: 'reader' });
  const long = await read.acquire({ leaseMs: LONG, owner: 'reader' });
  await short.release();
  await work(session, { ...asHeld(long), extend: none }, { enter: { shared: true } });
};

/** Believes in its lease for as long as it can. */
const believer: ExploreOptions['client'] = async (session) => {
  if (planted === 'leases on the wall clock') measureByWallClock(present.inside as Inside);
  await using locks = createLocks(session.redis);
  const held = asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE }));
  await work(session, { ...held, extend: none }, { steps: 28 });
};

const measured = new WeakSet<Inside>();

/** Every process of the world measures time by its wall clock from now on. */
function measureByWallClock(inside: Inside): void {
  if (measured.has(inside)) return;
  measured.add(inside);
  const began = inside.wallClock() * 1000 - inside.elapsed();
  inside.elapsed = () => inside.wallClock() * 1000 - began;
}

/** Nobody writes when another client is inside or was, as far as clocks of clients matter: a server keeps its own time. */
function exclusionUnderClients({ visits, faults, lanes }: History): string | undefined {
  if (faults.some(({ kind, on }) => kind === 'clock-jump' && lanes.includes(on) && on.startsWith('redis')))
    return undefined;
  for (const one of visits) {
    const other = visits.find(
      ({ client, from }) =>
        client !== one.client && from > one.from && one.writes.some(({ at }) => at > from),
    );
    if (other !== undefined) return `${one.client} writes after ${other.client} has entered`;
  }
  return undefined;
}

/** All four. */
export const defects: readonly Defect[] = [
  {
    name: 'A: a WAIT that is sent again alone, to the new primary, counts',
    client: replicated,
    faults: FAILOVERS,
    plant: plantOf('wait sent alone'),
  },
  {
    name: 'B: renewals do not wait for replicas',
    client: replicated,
    faults: FAILOVERS,
    plant: plantOf('renewals without replicas'),
  },
  {
    name: 'C: the release of one read hold ends the lease of another',
    client: twoLeases,
    plant: () =>
      plantInScript(
        readReleaseScript,
        "redis.call('del', KEYS[5])",
        "redis.call('del', ARGV[5] == '0' and KEYS[5] or KEYS[4] .. ':' .. ARGV[4] .. ':rwlock_timeout:' .. ARGV[5])",
      ),
  },
  {
    name: 'D: leases are measured by the wall clock of the client',
    client: believer,
    faults: ['clock-jump', 'client-death', 'delay', 'connection-reset'],
    promises: [exclusionUnderClients],
    plant: plantOf('leases on the wall clock'),
  },
];
