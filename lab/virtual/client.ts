/** An ioredis client that lives in a world and can be used from outside: awaiting its commands moves time. */

import type { Cluster, Redis, RedisClusterOptions, RedisOptions } from '../ioredis-types.ts';
import type { Actor } from '../time/actor.ts';
import { OutsideUse } from '../time/two-clocks.ts';
import { type Address, connectorTo, type DialWorld } from './connector.ts';
import { type AwaitedWorld, DrivenPromise } from './driver.ts';

/** The world that a client lives in. */
interface ClientWorld extends DialWorld, AwaitedWorld {
  /** The actor whose code is running, or ran last. */
  readonly running: Actor;
}

/** ioredis' constructor, which is loaded when it is first needed. */
export type IoredisConstructor = new (options: RedisOptions) => Redis;

/** The constructor of ioredis' client of clusters. */
export type ClusterConstructor = new (addresses: readonly Address[], options: RedisClusterOptions) => Cluster;

/** ioredis is not installed beside lostlock. Its message says what to install. */
export class MissingIoredis extends Error {
  readonly code = 'LOSTLOCK_NO_IOREDIS';

  constructor() {
    super(
      "lostlock: clients of the lab need the package 'ioredis' beside lostlock: npm install --save-dev ioredis",
    );
  }
}

let loaded: { readonly Redis: IoredisConstructor; readonly Cluster: ClusterConstructor } | undefined;

/**
 * Loads ioredis, an optional peer dependency, after Node's functions are replaced. Rejects with an installation hint when it is
 * missing.
 */
export async function loadIoredis(): Promise<IoredisConstructor> {
  return (await loadBoth()).Redis;
}

/** Loads ioredis' client of clusters, as `loadIoredis` does. */
export async function loadClusterClient(): Promise<ClusterConstructor> {
  return (await loadBoth()).Cluster;
}

async function loadBoth(): Promise<NonNullable<typeof loaded>> {
  try {
    // Kept, because each import() asks the module loader again, which takes longer than to start a node.
    loaded ??= (await import('ioredis')) as unknown as NonNullable<typeof loaded>;
    return loaded;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    throw new MissingIoredis();
  }
}

/**
 * True when the loaded ioredis takes a connection that breaks during its handshake for one that is ready, unless it sends
 * INFO first: ioredis 5 does, and such a client never connects again. Version 6 was the first with a default `protocol`.
 */
export function needsReadyCheck(): boolean {
  const { defaultOptions } = (loaded?.Redis ?? {}) as { defaultOptions?: object };
  return defaultOptions !== undefined && !('protocol' in defaultOptions);
}

/** Methods that return a value other than a promise at once. */
const DIRECT = new Set<PropertyKey>([
  ...['on', 'once', 'off', 'emit', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener'],
  ...['prependOnceListener', 'listeners', 'listenerCount', 'rawListeners', 'eventNames', 'setMaxListeners'],
  ...['getMaxListeners', 'getBuiltinCommands', 'createBuiltinCommand', 'addBuiltinCommand', 'defineCommand'],
  ...['disconnect', 'nodes'],
]);

/** Methods that return a pipeline, of which only `exec` is asynchronous. */
const PIPELINES = new Set<PropertyKey>(['pipeline', 'multi']);

/** The states in which ioredis refuses to connect. */
const UNDER_WAY = new Set(['connecting', 'connect', 'ready']);

type Method = (...args: unknown[]) => unknown;

/**
 * Creates a client that belongs to an actor. It connects when time next moves, to the address that `where` returns
 * then.
 * @param options ioredis' options, except those that say where to connect
 */
export function openClient(
  Ioredis: IoredisConstructor,
  world: ClientWorld,
  actor: Actor,
  where: () => Address,
  options: RedisOptions = {},
): Redis {
  const Connector = connectorTo(world, where) as unknown as NonNullable<RedisOptions['Connector']>;
  // With `sentinels`, ioredis finds the primary by itself.
  const dials = options.sentinels === undefined ? { Connector } : {};
  const redis = new Ioredis({ ...options, ...dials, lazyConnect: true });
  // Without a listener, ioredis prints each error. The trace has them all.
  redis.on('error', () => {});
  if (options.lazyConnect !== true) {
    actor.schedule.enqueue(
      actor.task(() => {
        // A command has connected it already. connect() would only make an error.
        if (!UNDER_WAY.has(redis.status)) void redis.connect().catch(() => {});
      }),
    );
  }
  return driven(redis, world, actor, (override) =>
    openClient(Ioredis, world, actor, where, { ...options, ...(override as RedisOptions) }),
  );
}

/**
 * Creates a client of a cluster that belongs to an actor. It connects when time next moves.
 * @param addresses where it begins
 */
export function openClusterClient(
  Ioredis: ClusterConstructor,
  world: ClientWorld,
  actor: Actor,
  addresses: readonly Address[],
  options: RedisClusterOptions = {},
): Cluster {
  // Its connections pass through the world, because ioredis dials nodes that it hears of.
  const redis = new Ioredis(addresses, { ...options, lazyConnect: true });
  redis.on('error', () => {});
  if ((options as { lazyConnect?: boolean }).lazyConnect !== true) {
    actor.schedule.enqueue(actor.task(() => void redis.connect().catch(() => {})));
  }
  return driven(redis, world, actor, (_addresses, override) =>
    openClusterClient(Ioredis, world, actor, addresses, { ...options, ...(override as RedisClusterOptions) }),
  );
}

/** A client whose commands move time when they are awaited outside the world. @param again its method `duplicate` */
function driven<C extends Redis | Cluster>(
  redis: C,
  world: ClientWorld,
  actor: Actor,
  again: (...args: readonly unknown[]) => C,
): C {
  const methods = new Map<PropertyKey, Method>();
  const outside = new OutsideUse(world, actor.name);
  const drive = (name: PropertyKey, method: Method): Method => {
    const call: Method = (...args) => {
      if (!world.isInside) outside.note(String(name), call);
      // Timers and connections of the client belong to its actor, also when another actor calls the method.
      if (world.isInside && world.running === actor) return method(...args);
      const called = actor.call(() => method(...args));
      return world.isInside ? called : new DrivenPromise(world, called);
    };
    return call;
  };
  const wrap = (name: PropertyKey, method: Method): Method => {
    const bound = method.bind(redis);
    if (DIRECT.has(name)) return bound;
    if (name === 'duplicate') return again;
    if (!PIPELINES.has(name)) return drive(name, bound);
    return (...args) => {
      // multi({ pipeline: false }) sends MULTI at once, like any other command.
      if ((args[0] as { pipeline?: boolean } | undefined)?.pipeline === false)
        return drive(name, bound)(...args);
      const pipeline = bound(...args) as { exec: Method };
      pipeline.exec = drive('exec', pipeline.exec.bind(pipeline));
      return pipeline;
    };
  };
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'constructor') return value;
      let method = methods.get(name);
      if (method === undefined) methods.set(name, (method = wrap(name, value as Method)));
      return method;
    },
  });
}
