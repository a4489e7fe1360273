/** The members of a dialect in which a Redis server names itself. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Dialect } from './dialect.ts';

/** The members of `Dialect` that name the server and its version. */
type Identity = Pick<
  Dialect,
  'name' | 'server' | 'title' | 'hello' | 'helloAsRedis' | 'lolwut' | 'infoVersion' | 'dumpVersion'
>;

/**
 * Names a Redis server.
 * @param name the dialect, such as 'redis-8.2'
 * @param version the version of the server that the dialect is compared with, such as '8.2.3'
 */
export function redisIdentity(name: string, version: string): Identity {
  return {
    name,
    server: { family: 'redis', version },
    title: 'Redis',
    hello: { server: 'redis', version },
    helloAsRedis: { server: 'redis', version },
    lolwut: {
      signature: `Redis ver. ${version}`,
      alone: `Redis ver. ${version}`,
      picture: version.startsWith('8.') ? 8 : undefined,
    },
    infoVersion: [['redis_version', version]],
    dumpVersion: ['redis-ver', version],
  };
}

/** The name of a node's server in its errors. */
export function titleOf(node: {
  readonly dialect: Pick<Dialect, 'title'>;
  readonly settings: { readonly 'extended-redis-compatibility': boolean };
}): Bytes {
  return node.settings['extended-redis-compatibility'] ? 'Redis' : node.dialect.title;
}
