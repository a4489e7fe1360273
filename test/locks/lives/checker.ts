/** Judges histories of locks: what holders believed, in order of time. It uses no lock code. */

/** One thing that happened. Events stand in the order in which the process saw them. */
export type LockEvent =
  /** A holder was granted `units` of `lock`; there may be several `shared` holders. */
  | {
      type: 'grant';
      lock: string;
      hold: string;
      owner: string;
      shared?: boolean;
      units?: number;
      fence?: number;
    }
  /** The holder asked to release it, or learned that it is lost. */
  | { type: 'end'; lock: string; hold: string; how: 'released' | 'lost' }
  /** A waiter joined the line (in the server's order), or left it without a grant. */
  | { type: 'arrive' | 'leave'; lock: string; owner: string }
  /** Permits or units: how many there are in all. */
  | { type: 'total'; lock: string; units: number }
  /** What the server has left when everything is over. */
  | { type: 'left'; lock: string; units: number }
  /** A latch. */
  | { type: 'set'; lock: string; count: number }
  | { type: 'down' | 'open'; lock: string };

export interface Violation {
  /** The event's place in the history; the history's length for violations that show only at its end. */
  readonly at: number;
  readonly rule: 'exclusion' | 'ends' | 'fence' | 'order' | 'conservation' | 'latch' | 'orphan';
  readonly what: string;
}

interface State {
  holds: Map<string, { owner: string; shared: boolean; units: number }>;
  line: string[];
  fence: number;
  total: number | undefined;
  count: number;
  downs: number;
}

/**
 * All violations of a history.
 * - exclusion: at any time one owner (with all its holds), or shared holders only; a writer may also read
 * - fence: grants of different owners carry growing numbers; re-entry keeps the same
 * - order: waiters in line are granted in order
 * - conservation: never more units out than there are, and all are back at the end
 * - latch: opens when, and only when, it was counted down as often as it was set
 */
export function check(history: readonly LockEvent[]): Violation[] {
  const states = new Map<string, State>();
  const violations: Violation[] = [];
  const stateOf = (lock: string): State => {
    const known = states.get(lock);
    if (known) return known;
    const fresh = { holds: new Map(), line: [], fence: 0, total: undefined, count: 0, downs: 0 };
    states.set(lock, fresh);
    return fresh;
  };
  for (const [at, event] of history.entries()) {
    const report = (rule: Violation['rule'], what: string): void => {
      violations.push({ at, rule, what: `${event.lock}: ${what}` });
    };
    apply(stateOf(event.lock), event, report);
  }
  for (const [lock, { holds }] of states) {
    if (holds.size > 0) {
      const what = `${lock}: ${[...holds.keys()]} never ended`;
      violations.push({ at: history.length, rule: 'orphan', what });
    }
  }
  return violations;
}

type Report = (rule: Violation['rule'], what: string) => void;

function apply(state: State, event: LockEvent, report: Report): void {
  switch (event.type) {
    case 'grant':
      grant(state, event, report);
      return;
    case 'end':
      if (!state.holds.delete(event.hold)) report('ends', `${event.hold} ended without being held`);
      return;
    case 'arrive':
      state.line.push(event.owner);
      return;
    case 'leave':
      state.line = state.line.filter((owner) => owner !== event.owner);
      return;
    case 'total':
      state.total = event.units;
      return;
    case 'left': {
      const out = unitsOut(state);
      if (event.units + out !== state.total) {
        report('conservation', `${event.units} left and ${out} out of ${state.total}`);
      }
      return;
    }
    case 'set':
      state.count = event.count;
      state.downs = 0;
      return;
    case 'down':
      state.downs++;
      return;
    case 'open':
      if (state.downs < state.count) report('latch', `open after ${state.downs} of ${state.count}`);
  }
}

function grant(state: State, event: Extract<LockEvent, { type: 'grant' }>, report: Report): void {
  const { hold, owner, shared = false, units = 1, fence } = event;
  if (state.holds.has(hold)) report('ends', `${hold} was granted twice`);
  const others = [...state.holds.values()].filter((other) => other.owner !== owner);
  const mine = [...state.holds.values()].filter((other) => other.owner === owner);
  if (state.total === undefined) {
    const clash = others.find((other) => !(shared && other.shared));
    if (clash) report('exclusion', `${owner} was let in beside ${clash.owner}`);
    const upgrade = !shared && mine.length > 0 && mine.every((other) => other.shared);
    if (upgrade) report('exclusion', `${owner} began to write while it read`);
  }
  if (fence !== undefined) {
    const fits = mine.length > 0 ? fence === state.fence : fence > state.fence;
    if (!fits) report('fence', `${fence} after ${state.fence}`);
    state.fence = Math.max(state.fence, fence);
  }
  if (state.line.includes(owner)) {
    if (state.line[0] !== owner) report('order', `${owner} came before ${state.line[0]}`);
    state.line = state.line.filter((other) => other !== owner);
  } else if (state.line.length > 0 && mine.length === 0) {
    report('order', `${owner} was let in past the line`);
  }
  state.holds.set(hold, { owner, shared, units });
  if (state.total !== undefined && unitsOut(state) > state.total) {
    report('conservation', `${unitsOut(state)} out of ${state.total}`);
  }
}

function unitsOut({ holds }: State): number {
  let sum = 0;
  for (const { units } of holds.values()) sum += units;
  return sum;
}
