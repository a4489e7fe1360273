/** One server of ours beside a redis-server: the same requests to both, for tests that compare long generated runs. */

import type { DialectName } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { splitWords } from '../../transcripts/transcript.ts';
import { INSTALLED, oracleOf } from '../oracles.ts';
import { RawClient } from '../raw-client.ts';
import { type RealRedis, startRedisServer } from '../redis-server.ts';
import { request } from '../reply-text.ts';

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

  /** Starts both servers; `args` are added to redis-server's command line. Another dialect needs its real server. */
  static async start(args: string[] = [], dialect: DialectName = INSTALLED): Promise<Beside> {
    const program = oracleOf(dialect);
    const redis = await startRedisServer({
      args: ['--enable-debug-command', 'yes', ...args],
      ...(program === undefined ? {} : { program }),
    });
    const theirs = await RawClient.connect({ path: redis.path });
    const settings = { 'enable-debug-command': 'yes' } as const;
    return new Beside(createNode(nodeHost(redis.dir), { dialect, strict: true, settings }), theirs, redis);
  }

  /** Sends lines (words as redis-cli splits them) to both servers and collects what each answers. */
  async ask(...lines: string[]): Promise<Answers> {
    return this.askWords(lines.map(splitWords));
  }

  /** Sends requests given as words to both servers and collects what each answers. */
  async askWords(requests: readonly (readonly string[])[]): Promise<Answers> {
    return { ours: await this.askOurs(requests), theirs: await this.askTheirs(requests) };
  }

  /** Sends requests to our server alone. */
  askOurs(requests: readonly (readonly string[])[]): Promise<string[]> {
    return askAll(this.ours, requests);
  }

  /** Sends requests to redis-server alone. */
  askTheirs(requests: readonly (readonly string[])[]): Promise<string[]> {
    return askAll(this.theirs, requests);
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
