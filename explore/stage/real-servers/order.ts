/**
 * Keeps a play on the real clock in the order of a virtual world: what clients do at resources, and between which of
 * these acts each step of a fault falls. Without that, a busy machine would decide whether a fault of a few milliseconds
 * strikes before a grant or after it.
 */

/** Something that a client did in the virtual world. */
export interface Milestone {
  /** Milliseconds since the clients started. */
  readonly at: number;
  readonly client: string;
  /**
   * An act at a resource; a write, such as a grant, whose reply the client has not yet received; or a request for one
   * that waits at a node which stands still.
   */
  readonly kind: 'act' | 'write' | 'ask';
  /** The write as it entered the replication stream; undefined for any write. */
  readonly command?: readonly string[] | undefined;
  /** True when the reply waits for it even if the client has been inside, and is otherwise not held up any more. */
  readonly held?: boolean;
}

/** A message that was lost with its connection in the virtual world. */
export interface Loss {
  readonly client: string;
  readonly of: 'request' | 'reply';
  /** When the client did what came last before this message. */
  readonly after: number;
  /** When a fault took it away. */
  readonly at: number;
}

/** What a client may do at the moment. */
export interface Turn {
  /** Its requests may reach the servers. */
  readonly ask: boolean;
  /** Replies may reach it. */
  readonly receive: boolean;
  /** It may wake up. */
  readonly wake: boolean;
  /** A write of it comes next, and its reply is held up even if the client has been inside. */
  readonly held: boolean;
  /** What waits for a fault that takes it away. */
  readonly loses: Loss['of'] | undefined;
}

/** The order of one play. */
export class Order {
  readonly #milestones: readonly Milestone[];
  readonly #losses: readonly Loss[];
  #done = 0;
  /** When the next step of each fault was due in the virtual world. */
  readonly #steps = new Set<{ readonly at: number }>();
  #kept = true;
  /** Called whenever another client may go on. */
  onChange: () => void = () => {};

  constructor(milestones: readonly Milestone[], losses: readonly Loss[] = []) {
    this.#milestones = milestones;
    this.#losses = losses;
  }

  /** True while everything happens as in the virtual world. */
  get kept(): boolean {
    return this.#kept;
  }

  /** What comes next, unless a fault comes before it. */
  get next(): Milestone | undefined {
    const next = this.#milestones[this.#done];
    return next !== undefined && [...this.#steps].every(({ at }) => next.at < at) ? next : undefined;
  }

  /** What the client may do now. */
  turnOf(client: string): Turn {
    const loses = this.#kept ? this.#lostBy(client) : undefined;
    if (!this.#kept || this.#done >= this.#milestones.length)
      return { ask: true, receive: true, wake: true, held: false, loses };
    const { next } = this;
    const own = this.#leftOf(client);
    const last = this.#milestones.slice(0, this.#done).findLast((each) => each.client === client)?.kind;
    const isNext = next?.client === client;
    return {
      ask: isNext || (own?.kind === 'act' && last === 'write'),
      receive: isNext && next.kind === 'act',
      wake: isNext,
      held: own?.held === true,
      loses,
    };
  }

  #leftOf(client: string): Milestone | undefined {
    return this.#milestones.find((each, i) => i >= this.#done && each.client === client);
  }

  /** What a fault is about to take away from the client, once the client has done everything that came before it. */
  #lostBy(client: string): Loss['of'] | undefined {
    const left = this.#leftOf(client);
    return this.#losses.find(
      (loss) =>
        loss.client === client && !this.hasPassed(loss.at) && (left === undefined || left.at > loss.after),
    )?.of;
  }

  /** A client has acted, or a write of it has been executed. */
  reached(client: string, kind: Milestone['kind']): void {
    const next = this.#milestones[this.#done];
    if (next?.client === client && next.kind === kind) this.#done++;
    else if (next !== undefined) this.giveUp();
    this.onChange();
  }

  /** No client has to wait for another any more. */
  giveUp(): void {
    this.#kept = false;
    this.onChange();
  }

  /** True when everything that came before this time in the virtual world has happened. */
  hasReached(at: number): boolean {
    const next = this.#milestones[this.#done];
    return !this.#kept || next === undefined || next.at >= at;
  }

  /** True when every fault that struck at this time in the virtual world has struck. */
  hasPassed(at: number): boolean {
    return !this.#kept || [...this.#steps].every((step) => step.at > at);
  }

  /** A step of a fault is due at this time. What came later waits until the returned function is called. */
  expect(at: number): () => void {
    const step = { at };
    this.#steps.add(step);
    return () => {
      this.#steps.delete(step);
      this.onChange();
    };
  }
}
