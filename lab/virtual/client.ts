/** An ioredis client that lives in a world and may be used from outside: awaiting its commands moves time. */

import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Actor } from '../time/actor.ts';
import { type Address, connectorTo, type DialWorld } from './connector.ts';
import { type AwaitedWorld, DrivenPromise } from './driver.ts';

/** The world that a client lives in. */
interface ClientWorld extends DialWorld, AwaitedWorld {
  /** Whose code is running, or ran last. */
  readonly running: Actor;
}

/** The constructor, loaded when first needed. */
export type IoredisConstructor = new (options: RedisOptions) => Redis;

/**
 * Loads ioredis, an optional peer of the package. The routes must have been laid.
 * Rejects with what to install when it is missing.
 */
export async function loadIoredis(): Promise<IoredisConstructor> {
  try {
    return (await import('ioredis')).Redis;
  } catch (error) {
    throw new Error("clients of the lab need the package 'ioredis': npm install --save-dev ioredis", {
      cause: error,
    });
  }
}

/** Methods that answer at once, with something else than a promise. */
const DIRECT = new Set<PropertyKey>([
  ...['on', 'once', 'off', 'emit', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener'],
  ...['prependOnceListener', 'listeners', 'listenerCount', 'rawListeners', 'eventNames', 'setMaxListeners'],
  ...['getMaxListeners', 'getBuiltinCommands', 'createBuiltinCommand', 'addBuiltinCommand', 'defineCommand'],
  'disconnect',
]);

/** Methods that answer a pipeline, of which only `exec` is asynchronous. */
const PIPELINES = new Set<PropertyKey>(['pipeline', 'multi']);

type Method = (...args: unknown[]) => unknown;

/**
 * Makes a client of an actor. It connects when time first moves, wherever `where` says then.
 * @param options any of ioredis' options but those that say where to connect
 */
export function openClient(
  Ioredis: IoredisConstructor,
  world: ClientWorld,
  actor: Actor,
  where: () => Address,
  options: RedisOptions = {},
): Redis {
  const Connector = connectorTo(world, where) as unknown as NonNullable<RedisOptions['Connector']>;
  const redis = new Ioredis({ ...options, Connector, lazyConnect: true });
  // Without a listener ioredis prints each error; the trace has them all.
  redis.on('error', () => {});
  if (options.lazyConnect !== true) {
    actor.schedule.enqueue(actor.task(() => void redis.connect().catch(() => {})));
  }
  const driven = new Map<PropertyKey, Method>();
  const drive = (method: Method): Method => {
    return (...args) => {
      // The client's connection and timers are its actor's, whoever asks.
      if (world.isInside && world.running === actor) return method(...args);
      const called = actor.call(() => method(...args));
      return world.isInside ? called : new DrivenPromise(world, called);
    };
  };
  const wrap = (name: PropertyKey, method: Method): Method => {
    const bound = method.bind(redis);
    if (DIRECT.has(name)) return bound;
    if (name === 'duplicate') {
      return (override) =>
        openClient(Ioredis, world, actor, where, { ...options, ...(override as RedisOptions) });
    }
    if (!PIPELINES.has(name)) return drive(bound);
    return (...args) => {
      // multi({ pipeline: false }) sends MULTI at once: then it is a command like any other.
      if ((args[0] as { pipeline?: boolean } | undefined)?.pipeline === false) return drive(bound)(...args);
      const pipeline = bound(...args) as { exec: Method };
      pipeline.exec = drive(pipeline.exec.bind(pipeline));
      return pipeline;
    };
  };
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'constructor') return value;
      let method = driven.get(name);
      if (method === undefined) driven.set(name, (method = wrap(name, value as Method)));
      return method;
    },
  });
}
