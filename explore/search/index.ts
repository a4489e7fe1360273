/** The registry of search strategies: each is one file beside this one, and one line here. They share what is left of a budget. */
import { arrivals } from './arrivals.ts';
import { guided } from './guided.ts';
import { priorities } from './priorities.ts';
import { randomFaults } from './random.ts';
import { sameStates } from './same-states.ts';
import type { Strategy } from './strategy.ts';
import { triesAgain } from './tries-again.ts';
import { twoFaults } from './two-faults.ts';

/** The strategies that share what is left of a budget when every world with one fault was played. */
export const strategies: readonly Strategy[] = [
  ...[twoFaults, randomFaults, priorities, guided, arrivals, triesAgain, sameStates],
];
