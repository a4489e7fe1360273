/** The clients of a world of the campaign: each a process of its own, with ioredis or node-redis. */
import type { Actor } from '../../../lab/time/actor.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { World } from '../../../lab/virtual/world.ts';
import {
  createLocks,
  fromIoredis,
  fromNodeRedis,
  type LockClient,
  type NodeRedisLike,
} from '../../../locks/index.ts';
import { Kit } from './kinds.ts';
import type { Library, Plan } from './plan.ts';
import { type Plant, plantInClient } from './plants.ts';

/** One process. */
export interface Client {
  readonly name: string;
  readonly library: Library;
  readonly actor: Actor;
  readonly kit: Kit;
  /** Settles when the process dies. */
  readonly death: Promise<void>;
  die(): void;
  alive: boolean;
  disconnect(): void;
}

/** A name for the primary of each set, as DNS or a virtual IP gives: node-redis dials one fixed address only. */
export class Names {
  readonly #world: World;
  readonly #sets: readonly ReplicaSet[];
  readonly #now = new Map<ReplicaSet, LabNode>();

  constructor(world: World, sets: readonly ReplicaSet[]) {
    this.#world = world;
    this.#sets = sets;
    this.follow();
  }

  /** The host name of a set's primary. Its port is 6379. */
  of(set: ReplicaSet): string {
    return `primary-${this.#sets.indexOf(set)}`;
  }

  /** Points each name at the current primary. Call it when the primary has changed or restarted. */
  follow(): void {
    const { network } = this.#world;
    for (const set of this.#sets) {
      const { primary } = set;
      const host = this.of(set);
      network.unlisten(host, 6379);
      this.#now.set(set, primary);
      if (primary.up)
        network.listen(primary.actor, host, 6379, (connection) =>
          primary.server.connections.accept(connection),
        );
    }
  }
}

interface NodeRedis extends NodeRedisLike {
  duplicate(options?: object): NodeRedis;
}

/** A node-redis client that never connects. Duplicating it is faster than creating one. */
let pattern: NodeRedis | undefined;

/** Loads node-redis. Call it after the routes are set up. */
export async function loadNodeRedis(): Promise<NodeRedis> {
  pattern ??= (await import('redis')).createClient() as unknown as NodeRedis;
  return pattern;
}

/** Opens a client, as its own actor. */
export async function openClient(
  world: World,
  sets: readonly ReplicaSet[],
  names: Names,
  nodeRedis: NodeRedis,
  plan: Plan,
  index: number,
  plant?: Plant,
): Promise<Client> {
  const name = String.fromCharCode(65 + index);
  const actor = world.actor(name);
  const library = plan.clients[index] as Library;
  const connections: { close(): void }[] = [];
  const open = (set: ReplicaSet): LockClient => {
    if (library === 'ioredis') {
      const redis = set.client(name);
      connections.push({ close: () => redis.disconnect() });
      return plantInClient(fromIoredis(redis), plant);
    }
    const redis = nodeRedis.duplicate({ socket: { host: names.of(set), port: 6379 } });
    redis.on('error', () => {});
    redis.connect().catch(() => {});
    connections.push({ close: () => redis.destroy() });
    return plantInClient(fromNodeRedis(redis), plant);
  };
  const locks = await actor.call(() => createLocks(sets.map(open), plan.settings));
  let tell = (): void => {};
  const death = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const client: Client = {
    name,
    library,
    actor,
    kit: new Kit(locks, plan),
    death,
    alive: true,
    die: () => {
      client.alive = false;
      actor.kill();
      actor.pause(); // Messages still under way to it wake no task.
      world.network.abandon(actor);
      tell();
    },
    disconnect: () => {
      locks.close();
      for (const connection of connections) connection.close();
    },
  };
  return client;
}
