/** How long somebody has been silent, as far as a node could hear. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Host } from './host.ts';

/**
 * Returns the time from `since` to `now`, on the host's clock, in milliseconds, without that in which the process itself stood
 * still. A node must not take its own stall for the silence of others, least of all of nodes in the same process.
 * @param limit from how many milliseconds on the silence matters
 */
export function silence(
  host: Pick<Host, 'stalledWithin'>,
  now: Millis,
  since: Millis,
  limit: Millis,
): Millis {
  const age = now - since;
  if (host.stalledWithin === undefined || age <= 0) return age;
  return Math.max(0, age - host.stalledWithin(age, limit));
}
