/** Finds work that a request took from a queue until a deadline: an element of a sorted set whose score is the deadline. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
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
