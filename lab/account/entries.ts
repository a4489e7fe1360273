/**
 * Finds the request behind each visit to a resource: the one whose reply let the client enter, whatever command it was. An
 * exploration knows its visits, and so needs no rule for what a lock is.
 */
import type { TimelineHold } from '../../page/format.ts';
import type { Calls, SentCommand } from './calls.ts';
import type { Tenure } from './tenures.ts';

/** A visit, with what let the client enter. */
export interface VisitEntry {
  readonly visit: TimelineHold;
  /** The last command that was answered before the client entered; undefined if none was since its last visit ended. */
  readonly grant: SentCommand | undefined;
  /** The tenure that the grant began or found. */
  readonly tenure: Tenure | undefined;
}

/** Commands whose replies let nobody enter. */
const PREPARING =
  /^(?:hello|auth|client|select|info|ping|command|quit|s?(?:un)?subscribe|readonly|wait|waitaof|script|config|role|cluster|time)$/;

/** The visits with their grants, in the order of the visits. Of several primaries, the grant is the last vote. */
export function entriesOf(
  visits: readonly TimelineHold[],
  { all }: Calls,
  tenures: readonly Tenure[],
): VisitEntry[] {
  if (visits.length === 0) return [];
  const answered = new Map<string, { readonly call: SentCommand; readonly told: number }[]>();
  for (const call of all) {
    const told = call.reply?.arrived ?? null;
    if (told === null || PREPARING.test(call.name)) continue;
    const list = answered.get(call.client);
    if (list === undefined) answered.set(call.client, [{ call, told }]);
    else list.push({ call, told });
  }
  for (const list of answered.values()) list.sort((a, b) => a.told - b.told);
  const left = new Map<string, number>();
  return visits.map((visit): VisitEntry => {
    const { client, key, from, to } = visit;
    const since = left.get(`${client} ${key}`) ?? 0;
    left.set(`${client} ${key}`, to ?? from);
    const last = answered.get(client)?.findLast(({ told }) => told <= from);
    if (last === undefined || last.told < since) return { visit, grant: undefined, tenure: undefined };
    return { visit, grant: last.call, tenure: tenureOf(last.call, tenures) };
  });
}

/** The tenure that the command began; or, of a command that only looked, that of its client on a key that it names. */
function tenureOf(grant: SentCommand, tenures: readonly Tenure[]): Tenure | undefined {
  const at = grant.executed ?? 0;
  return (
    tenures.find(({ call }) => call === grant) ??
    tenures.findLast(
      ({ client, key, from, end }) =>
        client === grant.client && grant.words.includes(key) && from <= at && (end?.at ?? Infinity) >= at,
    )
  );
}
