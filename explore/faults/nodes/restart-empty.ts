/** A fault: a primary crashes and comes back without its data, before anybody replaces it. */
import { type Fault, primariesOf } from '../fault.ts';
import { restart } from './roles.ts';

export const restartEmpty: Fault<never> = {
  sentence: 'a primary crashes, and comes back without its data',
  strikes: 'a node',
  variants: (among) => primariesOf(among).map((on) => ({ on, ms: 20 })),
  strike: (context, fault) => restart(context, fault, 'nothing'),
};
