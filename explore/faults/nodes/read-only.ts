/** A fault: the primary is demoted. Its clients stay connected to it for a while, and their writes are refused. */
import { type Fault, primariesWithReplicas, setOf } from '../fault.ts';
import { alone, resetClients } from './roles.ts';

export const readOnly: Fault<never> = {
  sentence: 'the primary becomes a replica, and its clients stay connected to it for a while',
  strikes: 'a node',
  variants: (among) =>
    among.sentinels || among.cluster ? [] : primariesWithReplicas(among).map((on) => ({ on, ms: 300 })),
  strike: (context, { on, ms }) => {
    const set = setOf(context, on);
    return alone(context, set, async () => {
      const old = set.primary;
      if (!old.up) return;
      const next = await set.swap();
      if (next === undefined) return;
      context.tell(old.name, `becomes a replica of ${next.name}; its clients stay connected`);
      await context.wait(ms);
      resetClients(context, old.name);
    });
  },
};
