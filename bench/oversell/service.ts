/** A process of the service: `POST /deduct` sells one unit under the step of the ladder that it was started with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { type Means, type Step, stepOf } from './steps.ts';
import { Stock } from './stock.ts';

/** The configuration of a process. */
export interface ServiceConfig {
  step: string;
  lockPorts: number[];
  stockPort: number;
  postgres: string | undefined;
  leaseMs: number;
  workMs: number;
  /** Delays or stalls the holder at every n-th request; 0 means never. */
  slowEvery: number;
  stallEvery: number;
  dieEvery: number;
  badMs: number;
}

const config = JSON.parse(process.env.SERVICE!) as ServiceConfig;
const quiet = { maxRetriesPerRequest: 2, retryStrategy: (): number => 20 };
const connect = (port: number): Redis => {
  const redis = new Redis(port, '127.0.0.1', quiet);
  redis.on('error', () => {});
  return redis;
};

let requests = 0;
let died = false;

const due = (every: number): boolean => every > 0 && requests % every === every - 1;

const means: Means = {
  locks: config.lockPorts.map(connect),
  stock: new Stock(connect(config.stockPort)),
  leaseMs: config.leaseMs,
  postgres: config.postgres,
  work: async () => {
    const slow = due(config.slowEvery);
    const stalls = due(config.stallEvery);
    await new Promise((resolve) => setTimeout(resolve, slow ? config.badMs : config.workMs));
    // Blocks the process, as a long garbage collection does.
    if (stalls) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, config.badMs);
  },
  dies: () => {
    const dies = due(config.dieEvery) && !died;
    if (dies) {
      died = true;
      setImmediate(() => {
        died = false;
        step.restart?.();
      });
    }
    return dies;
  },
};

const step: Step = stepOf(config.step, means);

const server = createServer((_request, response) => {
  requests++;
  step.sell().then(
    (outcome) => {
      response.statusCode = outcome === 'sold' ? 200 : outcome === 'sold out' ? 410 : 503;
      response.end(outcome);
    },
    (error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    },
  );
});

server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
