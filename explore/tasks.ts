/** Which async task of a client's code has entered a resource: two tasks of one process exclude each other like two processes. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { contexts } from '../lab/time/context.ts';
import { present } from '../lab/time/current-world.ts';
import type { Visit } from './visit.ts';

/** A visit, and the one that the same async task had entered before it. */
export interface Entered {
  /** The ledger that has the visits: code that outlives its world must not reach into the next one. */
  readonly ledger: object;
  /** Undefined until the world has caught up with a client that kept its process busy. */
  visit: Visit | undefined;
  readonly before: Entered | undefined;
}

const current = new AsyncLocalStorage<Entered>();
contexts.own = () => current.getStore() !== undefined;

/** The visits of one world by the async tasks that entered them. */
export class EntryTasks {
  readonly #entries = new Map<Visit, Entered>();

  /** The running async task enters. What it does from now on, and what it starts, belongs to this entry. */
  begin(): Entered {
    const before = current.getStore();
    const entered: Entered = {
      ...{ ledger: this, visit: undefined },
      before: before?.ledger === this ? before : undefined,
    };
    // The lab in a browser has no async tasks to tell apart: there, a client counts as one.
    const { usesContexts } = present;
    current.enterWith?.(entered);
    present.usesContexts = usesContexts;
    return entered;
  }

  /** The visit of an entry. */
  enter(entered: Entered, visit: Visit): void {
    entered.visit = visit;
    this.#entries.set(visit, entered);
  }

  /** True when both visits are of one owner: the one that the code named, or one async task and what it has started. */
  isOne(one: Visit, other: Visit): boolean {
    if (one.client !== other.client || one.life !== other.life) return false;
    if (one === other || current.enterWith === undefined) return true;
    if (one.owner !== undefined && other.owner !== undefined) return one.owner === other.owner;
    const [first, second] = one.id < other.id ? [one, other] : [other, one];
    for (let each = this.#entries.get(second); each !== undefined; each = each.before)
      if (each.visit === first) return true;
    return false;
  }
}
