/** Finds out why two clients took the same element from a queue: its time was over, or somebody put it in once more. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { dueOf } from './due.ts';
import { type FreedBy, jumpOf } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { elementsIn, POPS, requestOf } from './request.ts';

/** The end of the first holder's time for the work that both took; undefined if they did not take the same work with a deadline. */
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
    const base = { role: 'server', by: undefined, node, request: undefined, tenure: undefined } as const;
    if (jump !== undefined)
      return { ...base, how: 'clock', at: grantedAt(newer) / 1000, what: `the clock of ${node} ${jump}` };
    const end = write.at / 1000 + deadline - write.write.at;
    return { ...base, how: 'expired', at: end, what: 'its lease was over' };
  }
  return undefined;
}

/** The commands of the replication stream that put an element in. */
const PUTS = /^(?:[lr]pushx?|linsert|zadd|sadd)$/i;

/** Those that move one from list to list. */
const MOVES = /^b?(?:lmove|rpoplpush)$/i;

/**
 * The request that put work into the queue again after the first holder had taken it, so that the second holder took it too. Undefined
 * if the two took different work, or if it was put there only once.
 */
export function putAgain(older: GrantedVisit, newer: GrantedVisit, known: WorldAccount): FreedBy | undefined {
  const { run, account } = known;
  const taken = [older, newer].flatMap((each) => takenBefore(each, account.calls.all) ?? []);
  // A client that waits for an element is answered long after its request.
  const [first, second] = taken.sort((a, b) => (a.reply?.sent ?? 0) - (b.reply?.sent ?? 0));
  if (first === undefined || second === undefined || first === second) return undefined;
  const element = elementOf(first);
  const [, key = ''] = second.words;
  if (element === undefined || element !== elementOf(second) || first.words[1] !== key) return undefined;
  const puts = run.writes.filter((each) => {
    const { command } = each.write;
    if (each.at > (second.reply?.sent ?? 0)) return false;
    const call = MOVES.test(command[0] ?? '') ? account.calls.causeOf(each) : undefined;
    return call === undefined
      ? command[1] === key && command.includes(element) && PUTS.test(command[0] ?? '')
      : command[2] === key && elementOf(call) === element;
  });
  const last = puts.at(-1);
  if (last === undefined || puts.length < 2) return undefined;
  return putBy(last, element, older, newer, known);
}

/** The request behind a write that put an element in once more. */
function putBy(
  write: RecordedWrite,
  element: string,
  older: GrantedVisit,
  newer: GrantedVisit,
  { account }: WorldAccount,
): FreedBy | undefined {
  const call = account.calls.causeOf(write);
  const by = write.write.client;
  if (call === undefined || by === undefined) return undefined;
  const role =
    by === older.visit.client ? 'first holder' : by === newer.visit.client ? 'second holder' : 'third party';
  return {
    ...{ how: 'put again', at: write.at / 1000, role, by, node: write.node, what: element },
    ...{ request: requestOf(call), tenure: undefined },
  };
}

/**
 * The request that put a second token into a list or a set with one, from which both holders took one: its client had none to give back.
 * Undefined where the elements are work, or where nobody did so.
 */
export function secondToken(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
): FreedBy | undefined {
  const { run, account } = known;
  const [first, second] = [older, newer].map((each) => takenBefore(each, account.calls.all));
  const key = second?.words[1] ?? '';
  const element = second === undefined ? undefined : elementOf(second);
  if (first?.words[1] !== key || element === undefined) return undefined;
  const own = run.writes.filter(({ at, write }) => write.key === key && at <= grantedAt(newer));
  const isPut = ({ write }: RecordedWrite): boolean => PUTS.test(write.command[0] ?? '');
  if (own.some((each) => isPut(each) && each.write.command[2] !== element)) return undefined;
  const having = new Set<string | undefined>();
  let last: RecordedWrite | undefined;
  for (const each of own) {
    const { client } = each.write;
    if (!isPut(each)) having.add(client);
    else if (!having.delete(client) && each !== own[0]) last = each;
  }
  return last === undefined ? undefined : putBy(last, element, older, newer, known);
}

/** The request by which the visitor took its work from a queue. */
function takenBefore({ visit }: GrantedVisit, all: readonly SentCommand[]): SentCommand | undefined {
  const [since, until] = [micros(visit.askedAfter), micros(visit.from)];
  return all.findLast(
    ({ client, name, reply }) =>
      client === visit.client &&
      POPS.test(name) &&
      reply?.arrived != null &&
      reply.arrived >= since &&
      reply.arrived <= until,
  );
}

/** The element that a request took. BLPOP answers with the key before it, ZPOPMIN with the score behind it. */
function elementOf({ name, reply }: SentCommand): string | undefined {
  const text = reply?.text ?? 'nil';
  if (text === 'nil' || text === '[]') return undefined;
  const parts = elementsIn(text);
  return /^b(?:z|[lr]pop)/.test(name) ? parts[1] : parts[0];
}
