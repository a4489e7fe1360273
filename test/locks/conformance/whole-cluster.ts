/** A cluster looked at as if it were one server: what names no key, or keys of several slots, is asked of every primary. */
import type { Cluster, Redis } from 'ioredis';

/** A client for the cases of the conformance suite. */
export function wholeCluster(cluster: Cluster): Redis {
  const everywhere = async <T>(ask: (node: Redis) => Promise<T>): Promise<T[]> => {
    // Until then ioredis takes all nodes for primaries.
    if (cluster.status !== 'ready') await new Promise<void>((resolve) => cluster.once('ready', resolve));
    return Promise.all(cluster.nodes('master').map(ask));
  };
  const whole: Readonly<Record<string, (...words: string[]) => unknown>> = {
    exists: async (...keys) => {
      const found = await Promise.all(keys.map((key) => cluster.exists(key)));
      return found.reduce((sum, one) => sum + one, 0);
    },
    flushall: () => everywhere((node) => node.flushall()),
    keys: async (pattern = '*') => (await everywhere((node) => node.keys(pattern))).flat().sort(),
    pubsub: async (_, pattern = '*') => {
      const plain = await everywhere((node) => node.pubsub('CHANNELS', pattern) as Promise<string[]>);
      const sharded = await everywhere((node) => node.pubsub('SHARDCHANNELS', pattern) as Promise<string[]>);
      return [...new Set([...plain, ...sharded].flat())];
    },
    call: (command = '', ...words) =>
      command === 'CLIENT'
        ? everywhere((node) => node.call(command, ...words))
        : cluster.call(command, ...words),
  };
  return new Proxy(cluster, {
    get(target, name) {
      if (typeof name === 'string' && Object.hasOwn(whole, name)) return whole[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as unknown as Redis;
}
