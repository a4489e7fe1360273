/** A fault: a client's wall clock is set. */
import type { Fault } from '../fault.ts';
import { jump, jumpsOf } from './clocks.ts';

export const clientClockJump: Fault<never, 'clockOf'> = {
  sentence: "a client's wall clock is set forward or back, by more than a lease",
  strikes: 'a client',
  needs: ['clockOf'],
  variants: (among, { leaseMs }) => jumpsOf(among.clients, leaseMs),
  strike: jump,
};
