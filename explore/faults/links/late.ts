/** The scheduler's choice, and no fault: from now on a client's messages are late. It has no end. */
import { type Fault, farFromClient } from '../fault.ts';

export const late: Fault<never> = {
  sentence: "the search by priorities slows a client's messages down",
  strikes: 'a client',
  variants: () => [],
  strike: async (context, { on, by }) => {
    const { network, tell } = context;
    for (const name of farFromClient(context)) {
      network.lane(on, name).delay(by);
      network.lane(name, on).delay(by);
    }
    tell(on, `its messages are ${by} ms late from now on`);
  },
};
