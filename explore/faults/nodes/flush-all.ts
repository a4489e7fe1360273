/** A fault: an operator empties a primary. Connections stay, so that waiters hear nothing. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

export const flushAll: Fault<never> = {
  sentence: 'an operator runs FLUSHALL on a primary. No lock survives it',
  strikes: 'a node',
  onRequest: true,
  variants: (among) => primariesOf(among).map((on) => ({ on })),
  strike: async (context, { on }) => {
    const { primary } = setOf(context, on);
    if (!primary.up) return;
    await primary.ask('FLUSHALL');
    context.tell('operator', `runs FLUSHALL on ${primary.name}`);
  },
};
