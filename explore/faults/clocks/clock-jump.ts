/** A fault: a wall clock is set. */
import { type Fault, primariesOf } from '../fault.ts';

export const clockJump: Fault<never, 'clockOf'> = {
  sentence: "a node's or client's wall clock is set forward or back, by more than a lease",
  strikes: 'a node or client',
  needs: ['clockOf'],
  variants: (among, { leaseMs }) =>
    [...primariesOf(among), ...among.clients].flatMap((on) =>
      [1.1, -1.1].map((leases) => ({ on, by: Math.round(leases * leaseMs) })),
    ),
  strike: async ({ clockOf, tell }, { on, by }) => {
    clockOf(on).jump(by);
    tell(on, `its clock is set ${by > 0 ? 'forward' : 'back'} by ${Math.abs(by)} ms`);
  },
};
