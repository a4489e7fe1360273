/** A connection to the real redis-server that speaks byte strings. */
import { Redis } from 'ioredis';
import { type RealRedis, startRedisServer } from '../support/redis-server.ts';

/** A reply with every bulk string as bytes. */
export type Answer = string | number | null | Answer[];

export interface Oracle {
  readonly server: RealRedis;
  call(...argv: string[]): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts redis-server, or another `program` that takes its arguments. */
export async function startOracle(args: string[] = [], program?: string): Promise<Oracle> {
  const server = await startRedisServer({ args, ...(program === undefined ? {} : { program }) });
  const redis = new Redis({ path: server.path });
  return {
    server,
    async call(name, ...rest) {
      return toAnswer(await redis.callBuffer(name!, ...rest.map((arg) => Buffer.from(arg, 'latin1'))));
    },
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}

function toAnswer(reply: unknown): Answer {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (Array.isArray(reply)) return reply.map(toAnswer);
  return reply as string | number | null;
}
