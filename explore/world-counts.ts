/** Counts in how many worlds of an exploration something happened, so that a report can say what did not. */
import type { LockAccount } from '../lab/account/account.ts';
import { refusalsIn } from './calm.ts';
import { accountOfWorld } from './cause/recorded.ts';
import { type History, historyOf } from './history.ts';
import type { UserPromise } from './judge.ts';
import type { CalmWorld } from './lives.ts';
import type { FullOptions } from './options.ts';
import { isContended } from './overlap.ts';
import type { PlayedWorld } from './played-world.ts';
import { gist } from './promises/broken.ts';
import { promises as registry } from './promises/index.ts';
import { madeOf } from './promises/promise.ts';
import type { Coverage } from './report-data.ts';
import { deadlineOf } from './search/leases.ts';
import { PROBE } from './visit.ts';

/** How many different errors are counted by their texts. */
const MOST_ERRORS = 50;

/** What is counted. */
type Counted = Pick<
  Coverage,
  | 'contended'
  | 'judged'
  | 'errors'
  | 'gaveUp'
  | 'waiting'
  | 'fenced'
  | 'recorded'
  | 'triedAgain'
  | 'leaseEnded'
  | 'calmErrors'
  | 'calmRefusals'
>;

/** The counts of one exploration. */
export class WorldCounts {
  #contended = 0;
  #gaveUp = 0;
  #waiting = 0;
  #fenced = 0;
  #recorded = 0;
  #triedAgain = 0;
  #leaseEnded = 0;
  readonly #judged: Record<string, number>;
  readonly #named: ReadonlySet<string>;
  /** The promises of the user that say whether they had something to judge. */
  readonly #own: readonly UserPromise[];
  readonly #errors: Record<string, number> = {};
  readonly #calmErrors: string[] = [];
  #calmRefusals: readonly string[] = [];

  constructor({ promises, own, named }: Pick<FullOptions, 'promises' | 'own' | 'named'>) {
    this.#own = own.filter((each) => madeOf(each) !== undefined);
    const names = [...promises, ...this.#own.map(({ name }) => name)];
    this.#judged = Object.fromEntries(names.map((name) => [name, 0]));
    this.#named = new Set(named.namedPromises);
  }

  /** Counts a world. @param isCalm it is the world without faults @param calm how clients fare in that world */
  add(world: PlayedWorld, isCalm: boolean, calm: CalmWorld | undefined): void {
    const history = historyOf(world);
    if (isContended(world)) this.#contended++;
    this.#judge(world, history, calm);
    const failed = world.lives.filter(
      ({ client, error, to }) => client !== PROBE && error !== undefined && to < world.toldAt,
    );
    if (failed.length > 0) this.#gaveUp++;
    for (const text of new Set(failed.map(({ error = '' }) => gist(error))))
      if (text in this.#errors || Object.keys(this.#errors).length < MOST_ERRORS)
        this.#errors[text] = (this.#errors[text] ?? 0) + 1;
    if (isCalm) {
      this.#calmErrors.push(...failed.map(({ client, error }) => `${client} ended with ${error}`));
      this.#calmRefusals = refusalsIn(world);
    }
    if (world.lives.some(({ client, waitedSince }) => client !== PROBE && waitedSince !== undefined))
      this.#waiting++;
    if (history.visits.some(({ fence }) => fence !== undefined)) this.#fenced++;
    if (history.operations.length > 0) this.#recorded++;
    if (hasTriedAgain(world)) this.#triedAgain++;
    if (hasLeaseEnded(history, world.startedAt)) this.#leaseEnded++;
  }

  #judge(world: PlayedWorld, history: History, calm: CalmWorld | undefined): void {
    const { pools = new Set<string>(), once = new Set<string>() } = world;
    const account = (): LockAccount => accountOfWorld(world).account;
    const count = (name: string, has: boolean | undefined): void => {
      if (has !== false) this.#judged[name] = (this.#judged[name] ?? 0) + 1;
    };
    for (const { name, hasCase } of registry) {
      if (!(name in this.#judged)) continue;
      // Reports say only of promises that were named that they had nothing to judge, so that the others need no account.
      const known = { pools, once, calm, account: this.#named.has(name) ? account : undefined };
      count(name, hasCase?.(history, known));
    }
    for (const each of this.#own) count(each.name, madeOf(each)?.hasCase(history));
  }

  /** The counts so far. */
  counted(): Counted {
    return {
      ...{ contended: this.#contended, judged: this.#judged, errors: this.#errors, gaveUp: this.#gaveUp },
      ...{ waiting: this.#waiting, fenced: this.#fenced, triedAgain: this.#triedAgain },
      ...{ leaseEnded: this.#leaseEnded, recorded: this.#recorded, calmErrors: this.#calmErrors },
      calmRefusals: this.#calmRefusals,
    };
  }
}

/** True when a key's lease ended by time while the client that had set it was inside. */
function hasLeaseEnded({ writes, visits, endedAt }: History, startedAt: number): boolean {
  const leases = new Map<string, { readonly client: string | undefined; readonly until: number }>();
  const ended: { readonly client: string | undefined; readonly until: number }[] = [];
  for (const { command, client, at } of writes) {
    const key = command[1] ?? '';
    const before = leases.get(key);
    // A server may delete a key long after its lease has ended.
    if (before !== undefined && before.until <= at) ended.push(before);
    const until = deadlineOf(command) - startedAt;
    if (until >= 0) leases.set(key, { client, until });
    else leases.delete(key);
  }
  ended.push(...[...leases.values()].filter(({ until }) => until <= endedAt));
  return visits.some(({ client, from, to }) =>
    ended.some((lease) => lease.client === client && lease.until > from && lease.until < to),
  );
}

/** True when a client sent the same request twice before it went in, and went in. */
function hasTriedAgain({ events, visits, begunAt }: PlayedWorld): boolean {
  return visits.some(({ client, from, askedAfter }) => {
    const [first, last] = [begunAt + askedAfter * 1000, begunAt + from * 1000];
    const seen = new Set<string>();
    return events.some(({ who, what, detail, sent = 0 }) => {
      if (what !== 'data' || sent < first || sent > last || !who.startsWith(`${client}:`)) return false;
      return seen.size === seen.add(detail).size;
    });
  });
}
