/** A fault: a primary's clock runs too fast or too slow, until the faults are over. */
import { type Fault, primariesOf } from '../fault.ts';
import { drift, driftsOf } from './clocks.ts';

export const serverClockDrift: Fault<never, 'clockOf'> = {
  sentence: "a primary's clock runs 0.8 % too fast or too slow",
  strikes: 'a node',
  needs: ['clockOf'],
  anytime: true,
  variants: (among) => driftsOf(primariesOf(among)),
  strike: drift,
};
