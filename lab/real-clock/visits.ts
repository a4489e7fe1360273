/** What a test says itself about its clients: who is inside which resource, and remarks. */
import { checkFlag, checkNames } from '../../base/options.ts';
import type { StoryStep, TimelineHold } from '../../page/format.ts';
import { readable } from '../../page/text.ts';
import { checkNumber } from '../checks.ts';

/** How a client enters a resource. */
export interface VisitOptions {
  /** The fencing token with which it enters. */
  readonly fence?: number;
  /** True if others may be inside at the same time, when they share it too. Default false. */
  readonly shared?: boolean;
}

/** So many visits and remarks are kept: the newest ones. */
const MOST = 20_000;

/** The visits and remarks of one run. Times are in microseconds since it began. */
export class Visits {
  readonly #elapsed: () => number;
  readonly #holds: TimelineHold[] = [];
  readonly #steps: StoryStep[] = [];

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** The visits, in the order of their beginnings. */
  get holds(): readonly TimelineHold[] {
    return this.#holds;
  }

  /** The sentences about them, and the remarks. */
  get steps(): readonly StoryStep[] {
    return this.#steps;
  }

  /** The clients that have said something. */
  get clients(): readonly string[] {
    return [
      ...new Set([...this.#holds.map(({ client }) => client), ...this.#steps.map(({ lane }) => lane)]),
    ].filter((name) => name !== '*');
  }

  /** A client is inside from now on. Throws TypeError for a wrong option. */
  enter(client: string, key: string, how: VisitOptions): void {
    checkNames(how, ['fence', 'shared'], 'enter');
    const { fence, shared } = how;
    if (fence !== undefined) checkNumber('enter.fence', fence, 'a number', -Infinity);
    if (shared !== undefined) checkFlag('enter.shared', shared);
    const from = this.#elapsed();
    keep(this.#holds, {
      ...{ client, key, kind: 'visit', from, to: null, lease: null, renewals: [] },
      ...(fence !== undefined && { fence }),
      ...(shared === true && { shared }),
    });
    this.#tell(
      client,
      `${client} enters ${readable(key)}${fence === undefined ? '' : ` (fence ${fence})`}.`,
      from,
    );
  }

  /** A client has left. Throws Error when it is not inside. */
  leave(client: string, key: string): void {
    const at = this.#holds.findLastIndex(
      (each) => each.client === client && each.key === key && each.to === null,
    );
    const visit = this.#holds[at];
    if (visit === undefined) throw new Error(`${client} is not inside ${readable(key)}`);
    this.#holds[at] = { ...visit, to: this.#elapsed(), ended: 'released' };
    this.#tell(client, `${client} leaves ${readable(key)}.`);
  }

  /** A remark that belongs to no party. */
  remark(text: string): void {
    this.#tell('*', text);
  }

  #tell(lane: string, text: string, at = this.#elapsed()): void {
    keep(this.#steps, { at, lane, text, mood: 'plain' });
  }
}

function keep<T>(list: T[], entry: T): void {
  list.push(entry);
  if (list.length > 2 * MOST) list.splice(0, MOST);
}
