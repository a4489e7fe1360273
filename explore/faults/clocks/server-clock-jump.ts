/** A fault: a primary's wall clock is set. */
import { type Fault, primariesOf } from '../fault.ts';
import { jump, jumpsOf } from './clocks.ts';

export const serverClockJump: Fault<never, 'clockOf'> = {
  sentence: "a primary's wall clock is set forward or back, by more than a lease",
  strikes: 'a node',
  needs: ['clockOf'],
  variants: (among, { leaseMs }) => jumpsOf(primariesOf(among), leaseMs),
  strike: jump,
};
