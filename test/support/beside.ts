/** One server of ours beside a redis-server: the same requests to both, for tests that compare long generated runs. */
import { connectInMemory } from '../../server/host/in-memory.ts';
import { nodeHost } from '../../server/host/node.ts';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { splitWords } from '../transcripts/transcript.ts';
import { RawClient } from './raw-client.ts';
import { type RealRedis, startRedisServer } from './redis-server.ts';
import { request } from './reply-text.ts';

/** Raw replies to the same requests. */
export interface Answers {
  readonly ours: string[];
  readonly theirs: string[];
}

/** Requests sent at once; more could fill the buffers of both sides. */
const BATCH = 500;

async function askAll(client: RawClient, requests: readonly (readonly string[])[]): Promise<string[]> {
  const replies: string[] = [];
  for (let at = 0; at < requests.length; at += BATCH) {
    const batch = requests.slice(at, at + BATCH);
    await client.send(batch.map(([name = '', ...words]) => request(name, ...words)).join(''));
    for (const _ of batch) replies.push((await client.read()).raw);
  }
  return replies;
}

export class Beside {
  readonly server: Server;
  readonly ours: RawClient;
  readonly theirs: RawClient;
  readonly #redis: RealRedis;

  private constructor(server: Server, theirs: RawClient, redis: RealRedis) {
    this.server = server;
    this.ours = new RawClient(connectInMemory(server.connections));
    this.theirs = theirs;
    this.#redis = redis;
  }

  /** Starts both servers; `args` are added to redis-server's command line. */
  static async start(args: string[] = []): Promise<Beside> {
    const redis = await startRedisServer({ args: ['--enable-debug-command', 'yes', ...args] });
    const theirs = await RawClient.connect({ path: redis.path });
    return new Beside(createNode(nodeHost(redis.dir)), theirs, redis);
  }

  /** Sends lines (words as redis-cli splits them) to both servers and collects what each answers. */
  async ask(...lines: string[]): Promise<Answers> {
    const requests = lines.map(splitWords);
    return { ours: await askAll(this.ours, requests), theirs: await askAll(this.theirs, requests) };
  }

  /** A further connection to redis-server. */
  connectTheirs(): Promise<RawClient> {
    return RawClient.connect({ path: this.#redis.path });
  }

  async stop(): Promise<void> {
    for (const client of [this.ours, this.theirs]) client.close();
    this.server.stop();
    await this.#redis.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Lines with their replies, so that a difference shows which request it belongs to. */
export function labelled(lines: readonly string[], replies: readonly string[]): string[] {
  return lines.map((line, i) => `${line} -> ${replies[i]}`);
}
