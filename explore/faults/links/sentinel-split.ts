/** A fault: Sentinel's split. The primary and one client are on one side; Sentinels promote a replica on the other. */
import { type Fault, primariesWithReplicas, setOf } from '../fault.ts';
import { alone } from '../nodes/roles.ts';

export const sentinelSplit: Fault = {
  sentence:
    'the primary and one client are cut off from everybody else until the Sentinels have promoted a replica, and for a while after that',
  strikes: 'a node',
  variants: (among, { leaseMs }) =>
    among.sentinels
      ? primariesWithReplicas(among).flatMap((on) =>
          among.clients.map((how) => ({ on, how, ms: Math.round(0.6 * leaseMs) })),
        )
      : [],
  strike: (context, { on, ms, how }) => {
    const set = setOf(context, on);
    const { clients, network, tell, wait } = context;
    return alone(context, set, async () => {
      const old = set.primary;
      if (!old.up || old.paused || set.sentinels.length === 0) return;
      const near = [old.name, how];
      const far = [...set.replicas, ...set.sentinels, ...clients]
        .map(({ name }) => name)
        .filter((name) => !near.includes(name));
      const lanes = near.flatMap((one) =>
        far.flatMap((other) => [network.lane(one, other), network.lane(other, one)]),
      );
      const before = set.failovers.length;
      for (const lane of lanes) lane.partition();
      tell(old.name, `and ${how} are cut off from everybody else`);
      await set.decision(before, wait, () => tell(set.primary.name, 'is promoted'));
      for (const { name } of clients) if (name !== how) network.reset(name, old.name);
      await wait(ms);
      for (const lane of lanes) lane.heal();
      tell(old.name, 'can reach them again');
      // Sentinels make it a replica, and disconnect its clients.
      for (
        let waited = 0;
        waited < DEMOTED_WITHIN && !isDemoted(await old.ask('ROLE').catch(() => []));
        waited += LOOKS_EVERY
      )
        await wait(LOOKS_EVERY);
      network.reset(how, old.name);
    });
  },
};

/** How long Sentinels may take to make the old primary a replica, and how often the fault looks, in milliseconds. */
const [DEMOTED_WITHIN, LOOKS_EVERY] = [15_000, 50];

function isDemoted(role: unknown): boolean {
  return Array.isArray(role) && /slave|replica/.test(String(role[0]));
}
