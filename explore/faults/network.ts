/** Faults of the network between clients and nodes: partitions, delays, broken connections and what is lost with them. */
import type { Lane } from '../../lab/virtual/lane.ts';
import type { PlannedFault } from '../plan.ts';
import type { Cast, FaultKind, FaultVariant, Scene } from './scene.ts';
import { playerOf, setOf } from './scene.ts';

/** How long a fault waits for a message that it can strike, in milliseconds. */
const WAITS_FOR_MESSAGE = 60;

/** The nodes at the far end: of one set, or the primaries of all. */
function nodesOf(scene: Scene, how: string): string[] {
  const sets = how === '' ? scene.sets : [setOf(scene, how)];
  return sets.map(({ primary }) => primary.name);
}

/** Each client with each server, and with several servers with all of them at once. */
function clientsByServers({ clients, sets }: Cast): FaultVariant[] {
  const servers = sets.length === 1 ? [''] : ['', ...sets.map(([primary]) => primary as string)];
  return clients.flatMap((on) => servers.map((how) => ({ on, how })));
}

const CUT_OFF: Readonly<Record<string, string>> = {
  replicas: 'is cut off from its replicas',
  nodes: 'is cut off from every other node',
};

/** How long a primary is cut off at least from the other nodes of its cluster: they need that long to replace it. In milliseconds. */
const CLUSTER_DECIDES = 4000;

/** The nodes from which a primary is cut off: its replicas, or all other nodes of its cluster. */
function othersOf(scene: Scene, on: string, how: string): string[] {
  const { primary, replicas } = setOf(scene, on);
  const others = how === 'replicas' ? replicas : scene.sets.flatMap(({ nodes }) => nodes);
  return others.map(({ name }) => name).filter((name) => name !== primary.name);
}

/** A client and the nodes, or the primary and its replicas or the other nodes of its cluster, cannot reach each other for `ms`. */
export const partition: FaultKind = {
  variants: (cast, { leaseMs }) => [
    ...cast.clients.map((on) => ({ on, ms: Math.round(1.5 * leaseMs) })),
    ...cast.sets
      .filter((names) => names.length > 1)
      .map(([on]) => ({ on: on as string, ms: Math.round(1.5 * leaseMs), how: 'replicas' })),
    ...(cast.cluster ? cast.sets : []).map(([on]) => ({
      on: on as string,
      ms: Math.max(CLUSTER_DECIDES, Math.round(1.5 * leaseMs)),
      how: 'nodes',
    })),
  ],
  strike: async (scene, { on, ms, how }) => {
    const { network } = scene.world;
    const others =
      how === ''
        ? scene.sets.flatMap(({ nodes }) => nodes.map(({ name }) => name))
        : othersOf(scene, on, how);
    const one = how === '' ? on : setOf(scene, on).primary.name;
    const lanes = others.flatMap((other) => [network.lane(one, other), network.lane(other, one)]);
    for (const lane of lanes) lane.partition();
    scene.tell(one, CUT_OFF[how] ?? 'is cut off from every node');
    await scene.wait(ms);
    for (const lane of lanes) lane.heal();
    scene.tell(one, 'can reach them again');
  },
};

/** What a client sends or receives within 20 ms is `by` late. */
export const delay: FaultKind = {
  variants: (cast, { leaseMs }) =>
    cast.clients.flatMap((on) =>
      ['requests', 'replies'].map((how) => ({ on, how, ms: 20, by: Math.round(1.2 * leaseMs) })),
    ),
  strike: async (scene, { on, ms, by, how }) => {
    const { network } = scene.world;
    const lanes = scene.sets.flatMap(({ nodes }) =>
      nodes.map(({ name }) => (how === 'requests' ? network.lane(on, name) : network.lane(name, on))),
    );
    for (const lane of lanes) lane.delay(by);
    scene.tell(on, `its ${how} arrive ${by} ms late`);
    await scene.wait(ms);
    for (const lane of lanes) lane.delay(0);
    await scene.wait(by);
  },
};

/** The scheduler's choice: from now on a client's messages are `by` late. No fault, and it has no end. */
export const late: FaultKind = {
  variants: () => [],
  strike: async (scene, { on, by }) => {
    const { network } = scene.world;
    for (const { nodes } of scene.sets) {
      for (const { name } of nodes) {
        network.lane(on, name).delay(by);
        network.lane(name, on).delay(by);
      }
    }
  },
};

/** Holds the lanes until a message waits, and breaks the connections: the message is lost with them. */
async function lose(
  scene: Scene,
  on: string,
  nodes: readonly string[],
  lanes: readonly Lane[],
  what: string,
): Promise<void> {
  const { world } = scene;
  for (const lane of lanes) lane.hold();
  let waited = 0;
  while (waited < WAITS_FOR_MESSAGE && lanes.every(({ waiting }) => waiting === 0)) {
    await scene.wait(1);
    waited++;
  }
  const struck = lanes.some(({ waiting }) => waiting > 0);
  if (struck) {
    for (const node of nodes) world.network.reset(on, node);
    scene.tell(on, `its connection to ${nodes.join(', ')} breaks, and a ${what} is lost`);
  }
  for (const lane of lanes) lane.release();
}

function loser(what: 'request' | 'reply'): FaultKind {
  return {
    variants: clientsByServers,
    strike: (scene, { on, how }: PlannedFault) => {
      const nodes = nodesOf(scene, how);
      const { network } = scene.world;
      const lanes = nodes.map((node) =>
        what === 'request' ? network.lane(on, node) : network.lane(node, on),
      );
      return lose(scene, on, nodes, lanes, what);
    },
  };
}

/** A request is lost together with its connection. */
export const lostRequest = loser('request');

/** A reply is lost together with its connection. */
export const lostReply = loser('reply');

/** A client's connections break. */
export const connectionReset: FaultKind = {
  variants: clientsByServers,
  strike: async (scene, { on, how }) => {
    if (playerOf(scene, on)?.alive !== true) return;
    const nodes = nodesOf(scene, how);
    for (const node of nodes) scene.world.network.reset(on, node);
    scene.tell(on, `its connections to ${nodes.join(', ')} break`);
  },
};
