/** Chooses the replica to promote. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import type { Primary, Replica } from './instances.ts';
import type { Sentinel } from './sentinel.ts';

/**
 * Returns the best replica: the lowest priority number, then the highest offset, then the lowest run id. Replicas that
 * are down, were silent lately, or had lost their primary long before it failed are left out.
 * undefined if there is none.
 */
export function selectReplica(sentinel: Sentinel, primary: Primary): Replica | undefined {
  const { now, periods } = sentinel;
  const sincePrimaryDown = primary.isDown ? now - primary.downSince : 0;
  const longestDown = sincePrimaryDown + primary.downAfter * 10;
  const infoAge = primary.isDown ? periods['ping-period'] * 5 : periods['info-period'] * 3;
  const able = [...primary.replicas.values()].filter(
    (replica) =>
      !replica.isDown &&
      !replica.link.disconnected &&
      now - replica.link.availableAt <= periods['ping-period'] * 5 &&
      replica.priority !== 0 &&
      now - replica.infoAt <= infoAge &&
      replica.linkDownFor <= longestDown,
  );
  return able.sort(
    (a, b) => a.priority - b.priority || b.offset - a.offset || compareIds(a.runId, b.runId),
  )[0];
}

/** An unknown id comes last. */
function compareIds(a: Bytes | undefined, b: Bytes | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const [left, right] = [asciiLower(a), asciiLower(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
