/** The scheduler's choice, and no fault: a client that was refused runs its code again. The run reads it from the plan. */
import type { Fault } from '../fault.ts';

export const again: Fault<never> = {
  sentence: 'a client that returned without entering runs its code again, until it enters',
  strikes: 'a client',
  variants: () => [],
  strike: async ({ tell }, { on, ms }) => tell(on, `runs its code again every ${ms} ms until it enters`),
};
