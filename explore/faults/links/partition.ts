/** A fault: parties cannot reach each other. */
import {
  type Fault,
  type FaultContext,
  farFromClient,
  primariesOf,
  primariesWithReplicas,
  setOf,
} from '../fault.ts';

/** How long a primary is cut off at least from the other nodes of its cluster: they need that long to replace it. In milliseconds. */
const CLUSTER_DECIDES = 4000;

const CUT_OFF = {
  '': 'is cut off from every node',
  replicas: 'is cut off from its replicas',
  nodes: 'is cut off from every other node',
};

/** Those from which a client or a primary is cut off. */
function othersOf(context: FaultContext, on: string, how: keyof typeof CUT_OFF): string[] {
  if (how === '') return farFromClient(context);
  const { sets } = context;
  const nodes = how === 'replicas' ? setOf({ sets }, on).replicas : sets.flatMap((set) => set.nodes);
  return nodes.map(({ name }) => name);
}

export const partition: Fault<'replicas' | 'nodes'> = {
  sentence:
    'a client and all nodes, or the primary and its replicas or the other nodes of its cluster, cannot reach each other',
  strikes: 'a node or client',
  hows: ['replicas', 'nodes'],
  variants: (among, { leaseMs }) => {
    const ms = Math.round(1.5 * leaseMs);
    const longer = Math.max(CLUSTER_DECIDES, ms);
    return [
      ...among.clients.map((on) => ({ on, ms })),
      ...primariesWithReplicas(among).map((on) => ({ on, ms, how: 'replicas' as const })),
      ...(among.cluster ? primariesOf(among) : []).map((on) => ({ on, ms: longer, how: 'nodes' as const })),
    ];
  },
  strike: async (context, { on, ms, how }) => {
    const { network } = context;
    const one = how === '' ? on : setOf(context, on).primary.name;
    const others = othersOf(context, on, how).filter((name) => name !== one);
    const lanes = others.flatMap((other) => [network.lane(one, other), network.lane(other, one)]);
    for (const lane of lanes) lane.partition();
    context.tell(one, CUT_OFF[how] ?? CUT_OFF['']);
    await context.wait(ms);
    for (const lane of lanes) lane.heal();
    context.tell(one, 'can reach them again');
  },
};
