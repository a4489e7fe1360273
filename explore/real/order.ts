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
  /** An act at a resource; or a grant, which the client has not yet received. */
  readonly kind: 'act' | 'grant';
}

/** What a client may do at the moment. */
export interface Turn {
  /** Its requests may reach the servers. */
  readonly ask: boolean;
  /** Replies may reach it, and it may go on. */
  readonly act: boolean;
}

/** The order of one play. */
export class Order {
  readonly #milestones: readonly Milestone[];
  #done = 0;
  /** When the next step of each fault was due in the virtual world. */
  readonly #steps = new Set<{ readonly at: number }>();
  #kept = true;
  /** Called whenever another client may go on. */
  onChange: () => void = () => {};

  constructor(milestones: readonly Milestone[]) {
    this.#milestones = milestones;
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
    if (!this.#kept || this.#done >= this.#milestones.length) return { ask: true, act: true };
    const { next } = this;
    const own = this.#milestones.find((each, i) => i >= this.#done && each.client === client);
    const act = next?.client === client && next.kind === 'act';
    const isGranted = this.#milestones.slice(0, this.#done).findLast((each) => each.client === client)?.kind;
    return { ask: next?.client === client || (own?.kind === 'act' && isGranted === 'grant'), act };
  }

  /** A client has acted, or has been granted its lock. */
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
