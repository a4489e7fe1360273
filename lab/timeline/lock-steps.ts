/** The sentences about locks: who got which, who was refused, what ended a grant, and what nobody knows. */
import type { TimelineHold } from '../../page/format.ts';
import { readable } from '../../page/text.ts';
import { isScript } from '../account/calls.ts';
import type { LockRefusal } from '../account/refusals.ts';
import { commandText, type Tenure } from '../account/tenures.ts';
import type { ToldStep } from './cut.ts';
import type { LostWrites } from './lost-writes.ts';
import { listText, type Plot, spanText } from './plot.ts';

/** The sentences about locks; the ends apart, because they come after whatever else happened at their instant. */
export interface LockSteps {
  readonly begins: readonly ToldStep[];
  readonly ends: readonly ToldStep[];
}

/** Tells what happened to the locks. */
export function lockSteps(plot: Plot, losses: LostWrites): LockSteps {
  return {
    begins: [
      ...acquisitions(plot),
      ...ghosts(plot),
      ...refusals(plot),
      ...confirmations(plot),
      ...waiters(plot),
      ...others(plot),
      ...numbers(plot),
    ],
    ends: [...ends(plot, losses), ...beliefEnds(plot)],
  };
}

function nameOf({ lock, permit, shared }: Pick<Tenure, 'lock' | 'permit' | 'shared'>): string {
  const name = readable(lock);
  return permit ? `a permit of ${name}` : `${name}${shared ? ' for reading' : ''}`;
}

function acquisitions({ account, messages, run }: Plot): ToldStep[] {
  return account.holds.flatMap((hold): ToldStep[] => {
    const { client, key, kind, from, grant, shared, permit, renewals } = hold;
    if (kind === 'visit') return [];
    const reply = messages[grant ?? -1];
    const { primaries } = run;
    const granted =
      primaries > 1
        ? votesText(account.tenures, hold, primaries)
        : answerText(plotTenure(account.tenures, hold), reply?.from);
    const lease = hold.firstLease === undefined ? hold.lease : hold.firstLease;
    const length = lease === null ? 'until it gives it back' : `for ${spanText(lease - from)}`;
    // Of several primaries, each vote of the minority may move the end, too.
    const times = renewals.length === 1 ? 'once' : `${renewals.length} times`;
    const renewed = renewals.length === 0 || primaries > 1 ? '' : ` It renews the lease ${times}.`;
    const what = nameOf({ lock: key, permit: permit === true, shared: shared === true });
    const it = permit === true ? 'it' : 'the lock';
    const text = `${client} acquires ${what}: ${granted}, so ${client} believes that it holds ${it} ${length}.${renewed}`;
    const about = grant === undefined ? {} : { about: { message: grant } };
    return [{ at: from, lane: client, text, mood: 'good', lock: key, ...about }];
  });
}

/** The independent servers that had granted a lock to the client when it had a majority. */
function votesText(
  tenures: readonly Tenure[],
  { client, key, from }: TimelineHold,
  primaries: number,
): string {
  const own = tenures.filter(({ told, end, ...each }) => {
    const stands = told !== null && told <= from && (end === undefined || end.at > from);
    return stands && each.client === client && each.lock === key;
  });
  const nodes = [...new Set(own.map(({ node }) => node))].sort();
  const count = Math.max(nodes.length, (primaries >> 1) + 1);
  const names = nodes.length === count ? ` (${listText(nodes)})` : '';
  return `${count} of ${primaries} nodes granted it${names}`;
}

/** The tenure that the client learned of with this reply. */
function plotTenure(tenures: readonly Tenure[], { grant, key }: TimelineHold): Tenure | undefined {
  return tenures.find(({ call, lock }) => lock === key && call?.reply?.message === grant);
}

/** The answer to an acquisition. What a script returns means something to its caller only. */
function answerText(tenure: Tenure | undefined, node = 'the primary'): string {
  const { call } = tenure ?? {};
  if (call === undefined) return `${node} granted it`;
  return isScript(call) ? `the script on ${node} set it` : `${node} answered ${call.reply?.text ?? 'OK'}`;
}

function ghosts({ account: { ghosts: all } }: Plot): ToldStep[] {
  return all.map((tenure): ToldStep => {
    const { client, node, from, what, restored, lock, call } = tenure;
    const name = nameOf(tenure);
    const silence = call !== undefined && call.reply === undefined ? 'never answers' : 'the reply is lost';
    const text = restored
      ? `${client}'s lock on ${name} is back on ${node}, by ${what}: nobody knows of it.`
      : `${node} grants ${name} to ${client} (${what}), but ${silence}: ${client} does not know that it holds it.`;
    const message = restored ? undefined : call?.reply?.message;
    const about = message === undefined ? {} : { about: { message } };
    return { at: from, lane: node, text, mood: 'bad', lock, ...about };
  });
}

/** The first refusal of each client for each grant that is in its way. */
function refusals({ account }: Plot): ToldStep[] {
  const told = new Set<string>();
  const numbers = new Map(account.tenures.map((tenure, i) => [tenure, i]));
  const ghosts_ = new Set(account.ghosts);
  return account.refusals.flatMap((refusal): ToldStep[] => {
    const { client, lock, because, told: at, call, node } = refusal;
    const name = `${client} ${lock} ${because === undefined ? '' : numbers.get(because)}`;
    // A cluster's node that names another node has refused nothing.
    if (at === null || told.has(name) || /^(MOVED|ASK) /.test(call.reply?.text ?? '')) return [];
    told.add(name);
    const text = `${client} asks ${node} for ${readable(lock)} and does not get it${reasonText(refusal, ghosts_)}.`;
    const message = call.reply?.message;
    const about = message === undefined ? {} : { about: { message } };
    return [{ at, lane: client, text, mood: 'plain', lock, ...about }];
  });
}

function reasonText({ because, client }: LockRefusal, ghosts_: ReadonlySet<Tenure>): string {
  if (because === undefined || because.permit) return '';
  if (ghosts_.has(because))
    return because.client === client
      ? ': its own grant is in the way, of which it does not know'
      : `: the grant of ${because.client} is in the way, of which nobody knows`;
  return because.client === client ? '' : `: ${because.client} has it`;
}

function confirmations({ account }: Plot): ToldStep[] {
  return account.confirmations.flatMap(({ client, told, copies, call }): ToldStep[] => {
    if (told === null || copies === undefined) return [];
    const text = `${client} asks how many replicas have its writes (${call.words.join(' ').toUpperCase()}); the answer is ${call.reply?.text}.`;
    const message = call.reply?.message;
    const about = message === undefined ? {} : { about: { message } };
    return [{ at: told, lane: client, text, mood: copies === 0 ? 'bad' : 'plain', ...about }];
  });
}

/** Waiters whose message was lost; and those in lists and queues, the first time. */
function waiters({ account, messages }: Plot): ToldStep[] {
  const told = new Set<string>();
  return account.waiters.flatMap(({ client, lock, how, where, from, missed }): ToldStep[] => {
    if (how === 'message')
      return missed.map((message): ToldStep => {
        const text = `The message that ${client} waits for, about ${readable(lock)}, is lost: ${client} waits on.`;
        const at = messages[message]?.died ?? from;
        return { at, lane: client, text, mood: 'bad', lock, about: { message } };
      });
    if (told.has(`${client} ${lock} ${how}`)) return [];
    told.add(`${client} ${lock} ${how}`);
    const place = how === 'list' ? `for an element of ${readable(where)}` : 'in its queue';
    return [
      {
        at: from,
        lane: client,
        text: `${client} waits for ${readable(lock)} ${place}.`,
        mood: 'plain',
        lock,
      },
    ];
  });
}

/** Keys that were set because they were absent, and are no locks. */
function others({ account }: Plot): ToldStep[] {
  return account.others.flatMap(({ attempts }) =>
    attempts.flatMap(({ call, granted, id }): ToldStep[] => {
      const { client, executed, reply } = call;
      if (!granted || executed === null) return [];
      const about = reply === undefined ? {} : { about: { message: reply.message } };
      const text = `${client} set ${readable(id)}, which was absent.`;
      return [{ at: executed, lane: client, text, mood: 'plain', ...about }];
    }),
  );
}

/** Commands that count up or down. */
const COUNTS = ['incr', 'incrby', 'decr', 'decrby'];

/** What clients got from counters beside a lock, such as its fence: `my:lock:fence`. */
function numbers({ account }: Plot): ToldStep[] {
  const { locks, calls } = account;
  const beside = new Map<string, boolean>();
  const isBeside = (key: string): boolean => {
    let is = beside.get(key);
    if (is === undefined) {
      is = !locks.has(key) && [...locks].some((lock) => key.includes(lock));
      beside.set(key, is);
    }
    return is;
  };
  return calls.all.flatMap(({ client, name, words, reply }): ToldStep[] => {
    const key = words[1] ?? '';
    if (!COUNTS.includes(name) || reply === undefined || reply.arrived === null || !isBeside(key)) return [];
    const text = `${client} counts ${readable(key)} ${name.startsWith('incr') ? 'up' : 'down'} (${name.toUpperCase()}), and gets ${reply.text}.`;
    return [{ at: reply.arrived, lane: client, text, mood: 'plain', about: { message: reply.message } }];
  });
}

/** What ended the grants, when the servers executed it. With several primaries, the clients' own count is told instead. */
function ends({ account, run, marks }: Plot, losses: LostWrites): ToldStep[] {
  if (run.primaries > 1) return [];
  return account.tenures.flatMap((tenure): ToldStep[] => {
    const { end, lock, client } = tenure;
    if (end === undefined) return [];
    // The marks tell of each acknowledged write that is lost.
    const isTold = marks.some(
      ({ kind, text }) =>
        kind === 'lost' && text.includes(`lost: ${client} `) && text.includes(readable(tenure.key)),
    );
    if (end.how === 'lost' && isTold) return [];
    const text = endText(tenure, account.holds);
    const own = end.call === undefined ? undefined : { message: end.call.message };
    const copy = end.cause?.how === 'failover' ? losses.copyOf(tenure, end.cause.node) : undefined;
    const event = own ?? copy;
    const about = event === undefined ? {} : { about: event };
    const mood = ['released', 'expired'].includes(end.how) ? 'plain' : 'bad';
    return [{ at: end.at, lane: end.by ?? client, text, mood, lock, ...about }];
  });
}

function endText(tenure: Tenure, holds: readonly TimelineHold[]): string {
  const { client, lock, permit, end, node } = tenure;
  const name = readable(lock);
  const { how, by, what, at } = end as NonNullable<Tenure['end']>;
  const believes = holds.some(
    (hold) =>
      hold.client === client &&
      hold.key === lock &&
      hold.from <= at &&
      (hold.to ?? hold.lease ?? Infinity) > at,
  );
  const whose = believes ? `while ${client} believes that it holds it` : `which ${client} held`;
  if (how === 'released') return `${client} releases ${permit ? 'its permit of ' : ''}${name}.`;
  if (how === 'expired' && tenure.shortened !== undefined && !what.startsWith('the clock'))
    return `The lease of ${client} on ${name} ends: ${tenure.shortened.by} had shortened it (${commandText(tenure.shortened.call)}).`;
  if (how === 'expired')
    return `The lease of ${client} on ${name} ends${what.startsWith('the clock') ? `: ${what}` : ''}.`;
  if (how === 'deleted') return `${by} deletes ${name} (${what}), ${whose}.`;
  if (how === 'overwritten') return `${by} overwrites ${name} (${what}), ${whose}.`;
  if (how === 'flushed') return `${by} deletes all keys (${what}), also ${name}, ${whose}.`;
  if (how === 'evicted') return `${node} evicts ${name}, ${whose}.`;
  return `The lock of ${client} on ${name} is lost: ${what}.`;
}

/** How clients learn, or decide, that they no longer hold a lock, unless the sentence about the end of the grant says so. */
function beliefEnds({ account, run }: Plot): ToldStep[] {
  return account.holds.flatMap((hold): ToldStep[] => {
    const { client, key, kind, to, ended, permit } = hold;
    if (kind === 'visit' || to === null) return [];
    const tenure = run.primaries > 1 ? undefined : plotTenure(account.tenures, hold);
    if (ended !== 'denied' && tenure?.end !== undefined && ['released', 'expired'].includes(tenure.end.how))
      return [];
    const lock = readable(key);
    const text = {
      released: `${client} releases ${permit === true ? 'its permit of ' : ''}${lock}.`,
      expired: `The lease of ${client} on ${lock} ends.`,
      denied: `${client} learns that it no longer holds ${lock}.`,
      died: undefined,
    }[ended ?? 'died'];
    return text === undefined ? [] : [{ at: to, lane: client, text, mood: 'plain', lock: key }];
  });
}
