/** A server of ours on a clock that the test drives, new for each test of the file that asks for it. */
import { afterEach, beforeEach } from 'vitest';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { INSTALLED } from './oracles.ts';
import { TestHost } from './targets.ts';

export let host: TestHost;
export let server: Server;

/**
 * Call it at the top of a test file: each of its tests finds a new `server` on a new `host`, which ends with the test. It
 * answers as the installed redis-server.
 */
export function freshServerForEachTest(): void {
  beforeEach(() => {
    host = new TestHost();
    server = createNode(host, { dialect: INSTALLED, strict: false });
  });
  afterEach(() => server.stop());
}
