/** Why a world breaks its promise, for reductions: which clients it is about, and whether a smaller world breaks for the same reason. */

import { causeOf, namesClient } from '../cause/cause.ts';
import { UNHINDERED } from '../cause/shape.ts';
import { clientsOf } from '../deployments.ts';
import type { PlannedFault } from '../faults/index.ts';
import { isSame, NO_ERROR } from '../promises/broken.ts';
import type { Breach } from '../visit.ts';
import type { Failing, Reducible } from './shrink.ts';

/**
 * The failing world with its causal shape, and the clients that the broken promise is about: those of its cause, and those that the
 * promise returns or names.
 */
export function reducible(failing: Failing): Reducible {
  const { plan, world, breach } = failing;
  const { shape, clients } = causeOf(world, breach);
  const seen = breach.visits.flatMap((id) => world.visits[id]?.client ?? []);
  const named = clientsOf(plan).filter((name) => namesClient(breach.what, name));
  return { ...failing, shape, actors: new Set([...clients, ...seen, ...(breach.clients ?? []), ...named]) };
}

/** True when both break the same promise in the same causal shape, under faults that strike clients of the same roles. */
export function isSameReason(first: Reducible, next: Reducible): boolean {
  if (!isSame(first.breach, next.breach)) return false;
  // A smaller world may show that nothing had hindered the holder.
  if (first.shape !== next.shape && first.shape !== next.shape.replace(`; ${UNHINDERED}`, '')) return false;
  const before = strikesOf(first);
  return strikesOf(next).every((strike) => before.includes(strike));
}

/** The breach of a played plan that is the first one again: of the same promise, for the same reason; undefined if there is none. */
export function brokenAlike(
  first: Reducible,
  { plan, world, breaches }: Pick<Failing, 'plan' | 'world'> & { readonly breaches: readonly Breach[] },
): Reducible | undefined {
  return breaches
    .filter((breach) => isSame(breach, first.breach))
    .map((breach) => reducible({ plan, world, breach }))
    .find((next) => isSameReason(first, next) || (isVague(first) && isVague(next)));
}

/**
 * True when nobody knows which of the events matter, as with most promises of the user: then a smaller world need only break the
 * same promise.
 */
function isVague({ world, breach }: Failing): boolean {
  const { entries, left, lost } = causeOf(world, breach);
  return entries.length < 2 && left === undefined && lost === undefined && breach.promise !== NO_ERROR;
}

/** What each fault struck: a client in a role, another client, or a node. */
function strikesOf({ plan, world, actors }: Reducible): string[] {
  const roles = [...actors];
  const roleOf = ({ on }: PlannedFault): string => {
    if (!plan.clients.includes(on)) return on;
    const role = roles.indexOf(on);
    return role === -1 ? 'another client' : `role ${role}`;
  };
  return world.struck.map((fault) => `${fault.kind} ${roleOf(fault)}`);
}
