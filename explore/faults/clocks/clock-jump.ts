/** A fault: the wall clock of a node or client is set. */
import { type Fault, primariesOf } from '../fault.ts';
import { jump, jumpsOf } from './clocks.ts';

export const clockJump: Fault<never, 'clockOf'> = {
  sentence: '`server-clock-jump` and `client-clock-jump` as one kind',
  strikes: 'a node or client',
  onRequest: true,
  needs: ['clockOf'],
  variants: (among, { leaseMs }) => jumpsOf([...primariesOf(among), ...among.clients], leaseMs),
  strike: jump,
};
