/** A fault: a client's clock runs too fast or too slow, until the faults are over. */
import type { Fault } from '../fault.ts';
import { drift, driftsOf } from './clocks.ts';

export const clientClockDrift: Fault<never, 'clockOf'> = {
  sentence: "a client's clock runs 0.8 % too fast or too slow",
  strikes: 'a client',
  needs: ['clockOf'],
  anytime: true,
  variants: (among) => driftsOf(among.clients),
  strike: drift,
};
