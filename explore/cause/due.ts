/** Finds work that a queue gave again because its time was over: an element of a sorted set whose score is a deadline. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { type FreedBy, jumpOf } from './freed.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { WorldAccount } from './recorded.ts';

/** A deadline differs from the time of its request by less, in milliseconds. */
const DAY = 24 * 3600 * 1000;
/** Microseconds, milliseconds and seconds, in milliseconds. */
const UNITS = [0.001, 1, 1000];

/** An element that a request took from a sorted set, and how long it is the taker's. */
interface Due {
  readonly element: string;
  readonly write: RecordedWrite;
  /** In milliseconds since the epoch. */
  readonly deadline: number;
}

/** What a request took: the elements whose new deadlines it wrote, and that the server has chosen, because only the reply names them. */
export function dueOf(call: SentCommand | undefined, { run, account }: WorldAccount): Due[] {
  if (call === undefined || call.wrote.size === 0) return [];
  const told = (call.reply?.text ?? '').replace(/^\[|\]$/g, '').split(', ');
  const elements = told.filter((element) => !call.words.includes(element));
  return run.writes.flatMap((write): Due[] => {
    const { command, at } = write.write;
    const element = elements.find((each) => command.at(-1) === each);
    if (element === undefined || !/^zadd$/i.test(command[0] ?? '') || account.calls.causeOf(write) !== call)
      return [];
    const score = Number(command.at(-2));
    const deadline = UNITS.map((unit) => score * unit).find((time) => Math.abs(time - at) < DAY);
    return deadline === undefined ? [] : [{ element, write, deadline }];
  });
}

/** The end of the first holder's time for the work that both took; undefined if they took other work, or took it otherwise. */
export function dueBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
): FreedBy | undefined {
  for (const { element, write, deadline } of dueOf(older.call, known)) {
    const again = dueOf(newer.call, known).find(
      (each) =>
        each.element === element &&
        each.write.write.key === write.write.key &&
        each.write.node === write.node,
    );
    if (again === undefined || again.write.write.at < deadline) continue;
    const { node } = write;
    const jump = jumpOf(node, write.at, again.write.at, known.run);
    const end = write.at / 1000 + deadline - write.write.at;
    return {
      ...{ role: 'server', by: undefined, node, request: undefined, tenure: undefined },
      ...{
        how: jump === undefined ? 'expired' : 'clock',
        at: jump === undefined ? end : grantedAt(newer) / 1000,
      },
      what: jump === undefined ? 'its lease was over' : `the clock of ${node} ${jump}`,
    };
  }
  return undefined;
}
