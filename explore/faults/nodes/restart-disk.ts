/** A fault: a primary crashes and comes back with its data, before anybody replaces it. */
import { type Fault, primariesOf } from '../fault.ts';
import { restart } from './roles.ts';

export const restartDisk: Fault<never> = {
  sentence: 'a primary crashes, and comes back with its data',
  strikes: 'a node',
  variants: (among) => primariesOf(among).map((on) => ({ on, ms: 20 })),
  strike: (context, fault) => restart(context, fault, 'everything'),
};
