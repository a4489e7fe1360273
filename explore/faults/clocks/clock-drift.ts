/** A fault: a clock runs too fast or too slow, until the faults are over. */
import { type Fault, primariesOf } from '../fault.ts';

/** How much a clock's rate may differ from 1: what locks usually allow for is 1 %. */
const DRIFT = 0.008;

export const clockDrift: Fault<never, 'clockOf'> = {
  sentence: "a node's or client's clock runs 0.8 % too fast or too slow",
  strikes: 'a node or client',
  needs: ['clockOf'],
  anytime: true,
  variants: (among) =>
    [...primariesOf(among), ...among.clients].flatMap((on) => [DRIFT, -DRIFT].map((by) => ({ on, by }))),
  strike: async ({ clockOf, tell }, { on, by }) => {
    clockOf(on).drift(1 + by);
    tell(on, `its clock runs ${Math.abs(by) * 100} % too ${by > 0 ? 'fast' : 'slow'}`);
  },
};
