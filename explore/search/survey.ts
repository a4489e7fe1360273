/** The first world of an exploration, which has no faults: it shows how long leases and work take. */

import { replayText } from '../anchors/replay-text.ts';
import { calmOf } from '../calm.ts';
import { describe } from '../describe.ts';
import type { FullOptions } from '../options.ts';
import { playWorld } from '../play.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Rules } from '../run.ts';
import { PROBE } from '../visit.ts';
import { LONGEST_LEASE, leasesOf, scalesOf } from './leases.ts';

/** A lock whose lease is longer is taken for one that a dead client keeps closed. In milliseconds. */
const LONGEST_HOLD = 600_000;
/** What a lease is taken to be when no key has one, in milliseconds. */
const NO_LEASE = 1000;
/** How long clients may go on after the last fault at least, in milliseconds. */
const LEAST_PATIENCE = 10_000;
/** How long ioredis needs to be connected again after a failover, with its default retries, in milliseconds. */
const RECONNECT = 250;

/**
 * Plays the world without faults, and learns from it how long things take. Rejects when nobody enters a resource, and with
 * what fails in it.
 */
export async function survey(options: FullOptions): Promise<{ rules: Rules; world: PlayedWorld }> {
  const { clients, seed } = options;
  const rough = roughRules(options);
  const world = await playWorld(rough, { seed, clients, jitter: 0, faults: [] });
  return { rules: learnt(options, rough, world), world };
}

/** The rules of the world without faults, before anything is known. */
export function roughRules({ topology, client, promises, accept }: FullOptions): Rules {
  return {
    topology,
    code: client,
    scales: { leaseMs: NO_LEASE, reconnectMs: RECONNECT, leases: [] },
    promises,
    remains: undefined,
    written: new Set(),
    distant: new Set(),
    patienceMs: LONGEST_LEASE,
    holdMs: LONGEST_LEASE,
    calm: undefined,
    unwaited: new Set(),
    // Behind what is accepted, something else may break.
    playOn: accept.length > 0,
  };
}

/** What is different about worlds in which time costs time. */
export interface ClockedSurvey {
  /** How long clients may go on after the last fault at least, in milliseconds. */
  readonly leastPatience: number;
  /** Leases that are longer are not waited for, in milliseconds. */
  readonly longest: number;
  /** What a lease is taken to be when all leases are longer, in milliseconds. */
  readonly told: number;
}

/**
 * The rules, with what the world without faults shows. Throws what failed in it, and TypeError when no client enters a resource.
 * @param clocked undefined in virtual time
 */
export function learnt(
  options: Pick<FullOptions, 'name'>,
  rough: Rules,
  world: PlayedWorld,
  clocked?: ClockedSurvey,
): Rules {
  const { leastPatience = LEAST_PATIENCE, longest = Infinity, told = NO_LEASE } = clocked ?? {};
  const how = clocked === undefined ? 'with resource(name).enter()' : 'with LAB ENTER';
  const failed = world.failure ?? world.crash;
  if (failed !== undefined) throw ofWorld(failed.error, replayText(world));
  if (world.visits.length === 0 && world.operations.length === 0) {
    const trouble = world.lines
      .map(({ who, what }) => `${who} ${what}`)
      .slice(0, 3)
      .join('; ');
    const what = `without any fault, no client entered a resource ${how}, or recorded an operation`;
    // The cause first: a mistake in the code, mostly.
    const error = new TypeError(`${options.name}: ${trouble === '' ? what : `${trouble}; ${what}`}`);
    throw Object.assign(error, { code: 'LOSTLOCK_NO_WORLD' });
  }
  const leases = leasesOf(world);
  const followed = scalesOf(world, leases).map((each) =>
    each.ms > longest ? { ...each, used: false } : each,
  );
  const isTooLong = ({ ms }: { readonly ms: number }): boolean => ms > Math.min(longest, LONGEST_HOLD);
  const leaseMs =
    followed.find(({ used }) => used)?.ms ?? (leases.some(({ ms }) => ms > longest) ? told : NO_LEASE);
  // A key that a client deletes may be what others wait for.
  const released = leases.filter(({ isReleased }) => isReleased);
  const holds = released.filter((each) => !isTooLong(each)).map(({ ms }) => ms);
  const holdMs = Math.max(leaseMs, ...holds);
  const unwaited = new Set(clocked === undefined ? [] : released.filter(isTooLong).map(({ key }) => key));
  const patienceMs = Math.max(leastPatience, 4 * leaseMs, 2 * holdMs + 4 * RECONNECT);
  const calm = calmOf(world);
  // If the lock stayed closed, what was left behind is wrong.
  const closed =
    calm.probe === 'enters' &&
    (world.breaches.some(({ promise }) => promise === 'no-orphan' || promise === 'progress') ||
      world.visits.every(({ client }) => client !== PROBE));
  const written = new Set(
    world.visits.filter(({ writes }) => writes.length > 0).map(({ resource }) => resource),
  );
  const distant = new Set(
    world.visits
      .filter(({ writes }) => writes.some(({ sent }) => sent !== undefined))
      .map(({ resource }) => resource),
  );
  const remains = closed || calm.stays ? undefined : world.remains;
  return {
    ...rough,
    scales: { ...rough.scales, leaseMs, leases: followed },
    ...{ holdMs, remains, written, distant, patienceMs, calm, unwaited },
  };
}

/** An error that names the world in which it was thrown. */
function ofWorld(error: unknown, replay: string): unknown {
  const where = `The world can be played again: ${replay}`;
  if (!(error instanceof Error)) return new Error(`${describe(error)}\n${where}`, { cause: error });
  error.message += `\n${where}`;
  return error;
}
