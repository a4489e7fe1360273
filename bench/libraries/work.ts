/** How clients of the planted defects work under a lock. */
import type { ClientSession } from '../../explore/index.ts';
import { sampleHabits } from './sample.ts';

/** Milliseconds: the lease, and a step of the work. */
export const [LEASE, STEP] = [1000, 50];
/** How many steps a client works: for more than a lease, so that it needs another one. */
const STEPS = 28;
/** How many steps those work that cannot ask for another lease. */
const SHORT = 10;

/** A lock that a client has, as far as it knows. */
export interface Held {
  isValid(): boolean;
  extend(): Promise<unknown>;
  release(): Promise<unknown>;
  /** Calls back when the client learns that it has lost the lock. */
  onLost?(leave: () => void): void;
}

/** For locks that cannot be extended, or are released elsewhere. */
export const none = async (): Promise<void> => {};

/** How a client enters, and how long it works. */
interface WorkOptions {
  readonly enter?: { shared?: boolean; permits?: number; fence?: number };
  /** How many permits the resource has. */
  readonly permits?: number;
  readonly steps?: number;
}

/** Works in steps, asks for another lease in the middle, and stops as soon as it knows that the lease is over. */
export async function work(
  { sleep, resource }: ClientSession,
  held: Held,
  { enter = {}, permits = 1, steps = held.extend === none ? SHORT : STEPS }: WorkOptions = {},
): Promise<void> {
  const inside = resource('stock', { permits }).enter(enter);
  held.onLost?.(() => inside.leave());
  inside.write();
  const goesOn = (): boolean => held.isValid() || !sampleHabits.checks;
  let extended: Promise<unknown> | undefined;
  for (let step = 0; step < steps && goesOn(); step++) {
    if (step === steps / 2) extended = held.extend();
    await sleep(STEP);
    if (goesOn()) inside.write();
  }
  inside.leave();
  await extended;
  await held.release();
}

/** A lock of ours as `work` uses it. */
export function asHeld(held: {
  readonly signal: AbortSignal;
  assertHeld(): void;
  extend(leaseMs?: number): Promise<unknown>;
  release(): Promise<unknown>;
}): Held {
  return {
    isValid: () => {
      try {
        held.assertHeld();
        return true;
      } catch {
        return false;
      }
    },
    onLost: (leave) => held.signal.addEventListener('abort', leave),
    extend: () => held.extend(LEASE).catch(() => undefined),
    release: () => held.release().catch(() => undefined),
  };
}
