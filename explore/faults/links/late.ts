/** The scheduler's choice, and no fault: from now on a client's messages are late. It has no end. */
import type { Fault } from '../fault.ts';

export const late: Fault<never> = {
  sentence: "the search by priorities slows a client's messages down",
  strikes: 'a client',
  variants: () => [],
  strike: async ({ sets, network }, { on, by }) => {
    for (const { name } of sets.flatMap(({ nodes }) => nodes)) {
      network.lane(on, name).delay(by);
      network.lane(name, on).delay(by);
    }
  },
};
