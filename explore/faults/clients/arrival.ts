/** The scheduler's choice, and no fault: a client starts later than the others. The run reads it from the plan. */
import type { Fault } from '../fault.ts';

export const arrival: Fault<never> = {
  sentence: 'a client starts later than the others',
  strikes: 'a client',
  variants: () => [],
  strike: async ({ tell }, { on, ms }) => tell(on, `starts ${ms} ms later than the others`),
};
