/** Finds the client that is first in a line (a list, or a sorted set) in which a newcomer waits. */
import type { SentCommand } from '../../lab/account/calls.ts';
import { PROBE } from '../visit.ts';
import type { WorldAccount } from './recorded.ts';

/** A place in a line. Times are in microseconds. */
interface LinePlace {
  readonly key: string;
  readonly call: SentCommand;
  readonly from: number;
}

/** The place of the client that stands before the newcomer in its line; undefined where the newcomer stands in none. */
export function firstInLine({ run, account }: WorldAccount, until: number): LinePlace | undefined {
  const lines = new Map<string, Map<string, LinePlace & { readonly rank: number }>>();
  for (const each of run.writes) {
    const { at, write } = each;
    const [name = '', key = '', ...rest] = write.command;
    const member = rest.at(-1) ?? '';
    const line = lines.get(key) ?? new Map();
    lines.set(key, line);
    if (write.type === 'none') line.clear();
    else if (/^[lz]rem$/i.test(name)) for (const gone of rest) line.delete(gone);
    else if (/^lpop$/i.test(name)) line.delete([...line.keys()][0]);
    else if (at <= until || write.client === PROBE) {
      const call = account.calls.causeOf(each);
      const isPut = /^rpush$/i.test(name) || (/^zadd$/i.test(name) && !line.has(member));
      if (call !== undefined && isPut)
        line.set(member, { key, call, from: at, rank: /^zadd$/i.test(name) ? Number(rest.at(-2)) : 0 });
    }
  }
  for (const line of lines.values()) {
    const places = [...line.values()].sort((a, b) => a.rank - b.rank);
    const [first] = places;
    if (
      first !== undefined &&
      first.call.client !== PROBE &&
      places.some(({ call }) => call.client === PROBE)
    )
      return first;
  }
  return undefined;
}
