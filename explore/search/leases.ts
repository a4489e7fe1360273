/** The leases that faults are as long as: those of the locks whose holders are inside first of all, then those of other keys. */

import { accountOfWorld } from '../cause/recorded.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE, type Visit } from '../visit.ts';

/** A lease that faults are as long as. */
export interface LeaseScale {
  /** The key that has it; the first one of several. */
  readonly key: string;
  /** How long it is, in milliseconds. A lease that grows by renewal counts as long as it has grown. */
  readonly ms: number;
  /** True when clients were inside while they had this key. */
  readonly holds: boolean;
  /** False when there are so many different leases that no fault follows this one, or it is longer than a minute. */
  readonly used: boolean;
}

/** Leases that are longer are no scale for faults: nobody waits for them. In milliseconds. */
export const LONGEST_LEASE = 60_000;
/** So many different leases are followed. Each has faults of its own lengths. */
const MOST = 4;
/** Leases are the same scale when one is at most so many times as long as the other. */
const ALIKE = 1.3;

/** A lease that a key was given. */
export interface KeyLease {
  readonly key: string;
  readonly ms: number;
  /** True when a client has deleted the key. */
  readonly isReleased: boolean;
}

/** The leases that keys were given and that grew by renewals, in order of time. */
export function leasesOf(world: PlayedWorld): KeyLease[] {
  const deleted = new Set(
    world.world?.writes.flatMap(({ write: { client, type, key } }) =>
      client !== undefined && client !== PROBE && type === 'none' ? [key] : [],
    ),
  );
  return historyOf(world).writes.flatMap(({ command, at }) => {
    const lease = deadlineOf(command) - world.startedAt - at;
    const key = command[1] as string;
    return lease >= 10 ? [{ key, ms: Math.round(lease), isReleased: deleted.has(key) }] : [];
  });
}

/** When the lease ends that a write gives its key, in milliseconds since the epoch; NaN without one. */
export function deadlineOf(command: readonly string[]): number {
  const words = command.map((word) => word.toUpperCase());
  const px = words.indexOf('PXAT');
  return Number(px > 0 ? command[px + 1] : words[0] === 'PEXPIREAT' ? command[2] : Number.NaN);
}

/** The scales of faults, the first one first: that of the lock whose holder is inside. */
export function scalesOf(world: PlayedWorld, leases: readonly KeyLease[]): LeaseScale[] {
  const held = keysHeldInside(world, leases);
  const holds = ({ key }: KeyLease): boolean => held.has(key);
  // Those of the locks by length, the longest first: a lease that grows is as long as it has grown.
  const inOrder = [
    ...leases.filter(holds).sort((a, b) => b.ms - a.ms),
    ...leases.filter((lease) => !holds(lease)).sort((a, b) => b.ms - a.ms),
  ];
  const found: LeaseScale[] = [];
  for (const lease of inOrder) {
    const { key, ms } = lease;
    if (found.some((each) => isAlike(each.ms, ms))) continue;
    const used = ms <= LONGEST_LEASE && found.filter((each) => each.used).length < MOST;
    found.push({ key, ms, holds: holds(lease), used });
  }
  return found;
}

function isAlike(one: number, other: number): boolean {
  return Math.max(one, other) <= ALIKE * Math.min(one, other);
}

/**
 * The keys that visitors had when they entered: the locks that the account of the world knows; without one, what a visitor
 * had last given a lease.
 */
function keysHeldInside(world: PlayedWorld, leases: readonly KeyLease[]): Set<string> {
  const leased = new Set(leases.map(({ key }) => key));
  const visits = world.visits.filter(({ client }) => client !== PROBE);
  const tenures = accountOfWorld(world).account.tenures;
  const locks = visits.flatMap(({ client, from }) =>
    tenures.filter(
      (tenure) =>
        tenure.client === client &&
        tenure.from <= from * 1000 &&
        (tenure.end === undefined || tenure.end.at > from * 1000),
    ),
  );
  const keys = locks.map(({ key }) => key).filter((key) => leased.has(key));
  if (keys.length > 0) return new Set(keys);
  return new Set(visits.flatMap((visit) => lastLeased(world, visit, leased)));
}

/** The key that a visitor had given a lease last before it entered, and had not deleted. */
function lastLeased(
  world: PlayedWorld,
  { client, askedAfter, from }: Visit,
  leased: ReadonlySet<string>,
): string[] {
  const own = historyOf(world).writes.filter(
    (write) => write.client === client && write.at >= Math.floor(askedAfter) && write.at <= from,
  );
  const last = own.findLast(
    ({ command: [name = '', key = ''] }) => leased.has(key) && !/^(DEL|UNLINK)$/i.test(name),
  );
  return last === undefined ? [] : [last.command[1] as string];
}

/** The scales in words, for a report. */
export function scalesText(scales: readonly LeaseScale[], leaseMs: number): string {
  const used = scales.filter((scale) => scale.used);
  const named = used.map(({ key, ms }) => `${key} (${ms} ms)`);
  const left = scales.filter((scale) => !scale.used).map(({ key, ms }) => `${key} (${ms} ms)`);
  const shown = left.slice(0, 3).join(', ') + (left.length > 3 ? ` and ${left.length - 3} more` : '');
  const followed =
    used.length === 0
      ? `lengths follow no lease: ${leaseMs} ms stand for one`
      : `lengths follow the lease of ${named.join(', then ')}`;
  return left.length === 0 ? followed : `${followed}; not followed: ${shown}`;
}
