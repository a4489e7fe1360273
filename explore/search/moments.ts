/** What an exhaustive exploration strikes: the moments before and after everything that happens, and around each deadline. */
import type { FaultName } from '../faults/index.ts';
import { faults } from '../faults/index.ts';
import { historyOf } from '../history.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE } from '../visit.ts';
import { deadlineOf } from './leases.ts';
import { partiesOf } from './messages.ts';
import { type FaultForm, faultOf, formsOf, planOf, type SearchInput } from './strategy.ts';

/** The smallest step of a world's clock, in milliseconds: nothing happens between an event and the moment so much later. */
const STEP = 0.001;

/** At how many moments of a world with a fault a second one may strike. */
const SAMPLE = 80;

/** Every moment of a world, in milliseconds since the clients started, and what the moments are made of. */
export interface EveryMoment {
  readonly at: readonly number[];
  /** How many different times something happens at: a message leaves or arrives, or a client acts at a resource. */
  readonly events: number;
  /** How many deadlines of leases there are. */
  readonly deadlines: number;
}

/** The moments before and after each event while clients run, and 1 ms before and after each deadline of a lease. */
export function everyMoment(world: PlayedWorld): EveryMoment {
  const { begunAt, events, visits, lives, toldAt, endedAt } = world;
  const last = Math.max(0, ...lives.map(({ to }) => Math.min(to, toldAt, endedAt)));
  const times = new Set<number>();
  const add = (at: number): void => {
    if (at >= 0 && at <= last) times.add(toMicros(at));
  };
  const parties = partiesOf(world);
  for (const event of events) {
    if (event.at < begunAt || !(event.what === 'data' || event.what === 'open')) continue;
    if (parties(event.who) === undefined) continue;
    add((event.at - begunAt) / 1000);
    if (event.sent !== undefined) add((event.sent - begunAt) / 1000);
  }
  for (const { client, from, to, writes } of visits) {
    if (client === PROBE) continue;
    for (const at of [from, to, ...writes.map((write) => write.at)]) add(at);
    // In the middle of a visit as well: nothing else happens while a client works.
    add((from + Math.min(to, last)) / 2);
  }
  const deadlines = deadlinesOf(world).filter((at) => at <= last);
  const all = new Set<number>();
  for (const at of times) for (const moment of [at, at + STEP]) all.add(toMicros(moment));
  for (const at of deadlines)
    for (const moment of [at - 1, at + 1]) if (moment >= 0) all.add(toMicros(moment));
  return { at: [...all].sort((a, b) => a - b), events: times.size, deadlines: deadlines.length };
}

/** When the leases of keys end that clients have set, by their last deadlines, in milliseconds since the clients started. */
function deadlinesOf(world: PlayedWorld): number[] {
  const found = historyOf(world).writes.flatMap(({ command, client }) =>
    client === PROBE ? [] : [deadlineOf(command) - world.startedAt],
  );
  return [...new Set(found.filter((at) => Number.isFinite(at) && at >= 0))];
}

/** When something arrives in a played world from this time on, in milliseconds: a sample. */
export function momentsAfter(world: PlayedWorld, at: number): number[] {
  const { begunAt, events, toldAt } = world;
  const parties = partiesOf(world);
  const times = new Set<number>();
  for (const event of events) {
    const time = (event.at - begunAt) / 1000;
    if (event.what === 'data' && time >= at && time <= toldAt && parties(event.who) !== undefined)
      times.add(toMicros(time));
  }
  const all = [...times];
  const step = Math.max(1, all.length / SAMPLE);
  return Array.from({ length: Math.min(all.length, SAMPLE) }, (_, i) => all[Math.floor(i * step)] as number);
}

/**
 * One fault of every form at every moment. None is left out: what a client knows cannot be compared. They come in an order in which
 * neighbours strike at other moments in other forms.
 */
export class EverySingle {
  readonly #input: SearchInput;
  readonly #moments: readonly number[];
  /** The forms that strike at every moment, and those that strike once. */
  readonly #forms: readonly FaultForm[];
  readonly #once: readonly FaultForm[];

  constructor(input: SearchInput, moments: readonly number[]) {
    const isAnytime = (kind: FaultName): boolean => faults[kind].anytime === true;
    this.#input = input;
    this.#moments = moments;
    const all = formsOf(input);
    this.#forms = all.filter(({ kind }) => !isAnytime(kind));
    this.#once = all.filter(({ kind }) => isAnytime(kind));
  }

  /** How many there are. */
  get length(): number {
    return this.#once.length + this.#forms.length * this.#moments.length;
  }

  /** How many forms of faults there are. */
  get forms(): number {
    return this.#forms.length + this.#once.length;
  }

  /** All of them, or every `of`-th one. */
  *plans({ index, of }: { readonly index: number; readonly of: number }): Generator<WorldPlan, void> {
    const { length } = this;
    const step = stepThrough(length);
    for (let i = index - 1; i < length; i += of) yield this.#planAt((i * step) % length);
  }

  #planAt(index: number): WorldPlan {
    const once = this.#once[index];
    const rest = index - this.#once.length;
    const { kind, variant } = once ?? (this.#forms[rest % this.#forms.length] as FaultForm);
    const moment = once === undefined ? Math.floor(rest / this.#forms.length) : 0;
    return planOf(this.#input, [faultOf(kind, this.#moments[moment] ?? 0, variant)]);
  }
}

/** A step that visits every number below this one, and neighbours far from each other. */
function stepThrough(length: number): number {
  let step = Math.max(1, Math.round(length * 0.618));
  while (gcd(step, length) > 1) step++;
  return step;
}

function gcd(one: number, other: number): number {
  return other === 0 ? one : gcd(other, one % other);
}
