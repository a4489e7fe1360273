/** Compares lostlock, and redis-server where it is installed, with the recorded replies to the protocol corpus. */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../base/defined.ts';
import { startServer } from '../../index.ts';
import { isLongRun } from '../support/long.ts';
import { INSTALLED } from '../support/oracles.ts';
import { RawClient, type Target } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { type Recorded, record } from './conversation.ts';
import { corpus } from './corpus.ts';

const golden: Record<string, Recorded> = JSON.parse(readFileSync('test/golden/protocol-corpus.json', 'utf8'));

interface Started {
  readonly target: () => Target;
  stop(): Promise<void>;
}

/** Over sockets, every 8th cut and those with another outcome: the decoder, which sees the cuts, is the same as in memory. */
const SAMPLE = isLongRun ? 1 : 8;

function holdToGolden(step: number, start: (password: string | undefined) => Promise<Started>): void {
  for (const password of [undefined, 'secret']) {
    describe(password === undefined ? 'without a password' : 'with a password', () => {
      let server: Started;
      let fence: RawClient;
      beforeAll(async () => {
        server = await start(password);
        fence = await RawClient.connect(server.target());
      });
      afterAll(async () => {
        fence.close();
        await server.stop();
      });
      for (const { name, bytes, auth } of corpus) {
        if ((auth ?? false) !== (password !== undefined)) continue;
        test(name, async () => {
          const cuts = golden[name]?.cuts ?? {};
          const recorded = await record(server.target, fence, bytes, (at) => at % step === 0 || at in cuts);
          expect(recorded).toEqual(golden[name]);
        });
      }
    });
  }
}

test('every message has a unique name and a recorded reply', () => {
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  expect(Object.keys(golden).sort()).toEqual(corpus.map(({ name }) => name).sort());
});

describe('lostlock over TCP answers as recorded', () => {
  holdToGolden(SAMPLE, async (password) => {
    const server = await startServer({ dialect: INSTALLED, ...defined({ password }) });
    return { target: () => ({ port: server.port }), stop: () => server.stop() };
  });
});

describe('lostlock in memory answers as recorded', () => {
  holdToGolden(1, async (password) => {
    const server = await startServer({ dialect: INSTALLED, ...defined({ password }) });
    return { target: () => server.connect(), stop: () => server.stop() };
  });
});

describe.skipIf(!hasRedisServer)('redis-server still answers as recorded (needs redis-server)', () => {
  holdToGolden(SAMPLE, async (password) => {
    const server = await startRedisServer({
      args: password === undefined ? [] : ['--requirepass', password],
    });
    return { target: () => ({ path: server.path }), stop: () => server.stop() };
  });
});
