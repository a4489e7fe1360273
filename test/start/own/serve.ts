/** Starts servers with commands of a user's own for a test, which end with it. */
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { startServer } from '../../../index.ts';
import type { StartOptions } from '../../../start/start-options.ts';
import { json } from './json.ts';

/** A server with json.set and json.get, or with the commands of the options, and a client in memory. */
export async function serve(options: StartOptions = {}) {
  const server = await startServer({ commands: json, ...options });
  onTestFinished(() => server.stop());
  const redis = new Redis({ Connector: server.connector });
  onTestFinished(() => redis.disconnect());
  return { server, redis, send: (...words: string[]) => redis.call(...(words as [string, ...string[]])) };
}

/** The message of the error with which a promise rejects. */
export function error(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    (value) => `no error: ${String(value)}`,
    ({ message }: Error) => message,
  );
}
