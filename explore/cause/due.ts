/** Finds work that a request took from a queue until a deadline: an element of a sorted set whose score is the deadline. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { timeNear } from '../times.ts';
import type { WorldAccount } from './recorded.ts';
import { elementsIn } from './request.ts';

/** An element that a request took from a sorted set, and how long it is the taker's. */
interface Due {
  readonly element: string;
  readonly write: RecordedWrite;
  /** In milliseconds since the epoch. */
  readonly deadline: number;
}

/** The elements whose deadlines a request wrote, and that the server chose: the reply names them, and the request does not. */
export function dueOf(call: SentCommand | undefined, { run, account }: WorldAccount): Due[] {
  if (call === undefined || call.wrote.size === 0) return [];
  const elements = elementsIn(call.reply?.text ?? '').filter((element) => !call.words.includes(element));
  return run.writes.flatMap((write): Due[] => {
    const { command, at } = write.write;
    const element = elements.find((each) => command.at(-1) === each);
    if (element === undefined || !/^zadd$/i.test(command[0] ?? '') || account.calls.causeOf(write) !== call)
      return [];
    const deadline = timeNear(Number(command.at(-2)), at);
    return deadline === undefined ? [] : [{ element, write, deadline }];
  });
}
