/** Turns what happened to parties and links into marks, and says why messages came late. */
import type { TimelineMark } from '../../page/format.ts';
import { beginning, readable } from '../../page/text.ts';
import type { ReadMessage } from './connections.ts';
import type { RecordedEvent, RecordedRun } from './record.ts';

type MarkKind = TimelineMark['kind'];

const OF_LINKS: Record<string, MarkKind> = {
  hold: 'hold',
  release: 'release',
  partition: 'partition',
  heal: 'heal',
  delay: 'delay',
  drop: 'drop',
  duplicate: 'drop',
  bandwidth: 'delay',
  slowClose: 'delay',
  reset: 'reset',
};

const OF_PARTIES: Record<string, [kind: MarkKind, text: (detail: string) => string]> = {
  crash: ['crash', (detail) => (detail === '' ? 'crashes' : `crashes ${detail}`)],
  restart: ['restart', () => 'starts again'],
  kill: ['kill', () => 'is killed'],
  pause: ['pause', () => 'is paused'],
  resume: ['resume', () => 'resumes'],
  clock: ['clock', (detail) => `its clock ${detail}`],
  promote: ['promote', (detail) => `is promoted to primary ${detail}`],
  // The nodes of a cluster elect one of their own.
  promoted: ['promote', () => 'is elected primary of its shard'],
  follow: ['follow', (detail) => `becomes a replica of ${detail}`],
  lost: ['lost', (detail) => `an acknowledged write is lost: ${detail}`],
  fault: ['fault', (detail) => detail],
  refused: ['refused', (detail) => detail],
  note: ['note', (detail) => detail],
};

/** Events of TCP connections, which the messages show. */
const OF_CONNECTIONS = ['open', 'accepted', 'refused', 'end', 'reset', 'timed out', 'data', 'dropped'];

/** The marks, in the order of time. */
export function marksOf({ events, lanes }: RecordedRun, messages: readonly ReadMessage[]): TimelineMark[] {
  const sentinels = new Set(lanes.filter(({ kind }) => kind === 'sentinel').map(({ name }) => name));
  const promoted = messages.flatMap(({ from, to, arrived, asks = [] }): TimelineMark[] => {
    const isOrder = asks.some(({ words }) => /^(slaveof|replicaof) no one$/i.test(words.join(' ')));
    if (!isOrder || arrived === null || !sentinels.has(from)) return [];
    return [{ at: arrived, lane: to, kind: 'promote', text: `is promoted to primary by ${from}` }];
  });
  const own = eventMarks(events);
  return promoted.length === 0 ? own : [...own, ...promoted].sort((a, b) => a.at - b.at);
}

function eventMarks(events: readonly RecordedEvent[]): TimelineMark[] {
  const clocks = new Clocks();
  return events.flatMap(({ at, who, what, detail }): TimelineMark[] => {
    if (who.includes('>')) {
      const [lane = '', to = ''] = who.split('>');
      const kind = OF_LINKS[what];
      if (kind === undefined || who.includes(':')) return [];
      return [{ at, lane, to, kind, text: `${what}${detail === '' ? '' : ` ${detail}`}` }];
    }
    const known = OF_PARTIES[what];
    if (known !== undefined) {
      const [kind, text] = known;
      const set = kind === 'clock' ? clocks.after(who, detail) : {};
      return [{ at, lane: who, kind, text: text(shortened(detail)), ...set }];
    }
    if (OF_CONNECTIONS.includes(what)) return [];
    return [{ at, lane: who, kind: 'event', text: shortened(`${what} ${detail}`) }];
  });
}

/** By how much clocks were set. */
class Clocks {
  readonly #ahead = new Map<string, number>();

  /** What a clock shows after it was set. @param detail as the lab notes it: `jumps by 20 ms`, `runs at 1.5` */
  after(who: string, detail: string): Pick<TimelineMark, 'ahead' | 'rate'> {
    const [, jump] = /^jumps by (\S+) ms$/.exec(detail) ?? [];
    const [, rate] = /^runs at (\S+)$/.exec(detail) ?? [];
    if (jump !== undefined)
      this.#ahead.set(who, (this.#ahead.get(who) ?? 0) + Math.round(Number(jump) * 1000));
    const ahead = this.#ahead.get(who);
    return { ...(ahead !== undefined && { ahead }), ...(rate !== undefined && { rate: Number(rate) }) };
  }
}

function shortened(text: string): string {
  const plain = readable(text);
  return plain.length > 120 ? `${beginning(plain, 117)}...` : plain;
}

/** The times in which a direction was shut or a party stood still, and why. */
export class Obstacles {
  readonly #states = new Map<string, { readonly at: number; readonly why: string | undefined }[]>();

  constructor(events: readonly RecordedEvent[]) {
    const shut = new Map<string, Set<string>>();
    for (const { at, who, what } of events) {
      const begun = { hold: 'hold', partition: 'partition', pause: 'pause' }[what];
      const ended = { release: 'hold', heal: 'partition', resume: 'pause' }[what];
      if (begun === undefined && ended === undefined) continue;
      let reasons = shut.get(who);
      if (reasons === undefined) shut.set(who, (reasons = new Set()));
      if (begun !== undefined) reasons.add(begun);
      if (ended !== undefined) reasons.delete(ended);
      const states = this.#states.get(who) ?? [];
      states.push({ at, why: [...reasons].at(-1) });
      this.#states.set(who, states);
    }
  }

  /** Why a message that reached the far end at this moment could not pass; undefined when nothing was in its way. */
  why(from: string, to: string, due: number): string | undefined {
    const lane = this.#at(`${from}>${to}`, due);
    if (lane === 'hold') return `the link from ${from} to ${to} is held`;
    if (lane === 'partition') return `${from} and ${to} are cut off from each other`;
    return this.#at(to, due) === 'pause' ? `${to} is paused` : undefined;
  }

  #at(who: string, due: number): string | undefined {
    return this.#states.get(who)?.findLast(({ at }) => at <= due)?.why;
  }
}
