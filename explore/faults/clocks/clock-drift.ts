/** A fault: the clock of a node or client runs too fast or too slow, until the faults are over. */
import { type Fault, primariesOf } from '../fault.ts';
import { drift, driftsOf } from './clocks.ts';

export const clockDrift: Fault<never, 'clockOf'> = {
  sentence: '`server-clock-drift` and `client-clock-drift` as one kind',
  strikes: 'a node or client',
  onRequest: true,
  needs: ['clockOf'],
  anytime: true,
  variants: (among) => driftsOf([...primariesOf(among), ...among.clients]),
  strike: drift,
};
