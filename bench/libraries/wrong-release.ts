/** A promise that every lock with an owner makes: nobody releases what another client holds. */
import type { History, UserPromise } from '../../explore/index.ts';

/**
 * Returns the promise for locks that are keys. With `apart`, every node has locks of its own; otherwise one set of
 * nodes has them all, and a failover takes them along.
 */
export function wrongRelease(apart: boolean): UserPromise {
  const named = {
    'wrong-release': ({ writes }: History): string | undefined => {
      const owners = new Map<string, string>();
      for (const { node, client, command } of writes) {
        const [name = '', ...keys] = command;
        const placed = (key: string): string => (apart ? `${node} ${key}` : key);
        const verb = name.toUpperCase();
        if (verb === 'SET' && client !== undefined) owners.set(placed(keys[0] as string), client);
        if (verb !== 'DEL' && verb !== 'UNLINK') continue;
        for (const key of keys) {
          const owner = owners.get(placed(key));
          // What the node deletes by itself has expired.
          if (client !== undefined && owner !== undefined && owner !== client)
            return `${client} deletes ${key}, which ${owner} holds`;
          owners.delete(placed(key));
        }
      }
      return undefined;
    },
  };
  return named['wrong-release'];
}
