/** A server of ours on a clock that the test drives, new for each test of the file that imports it. */
import { afterEach, beforeEach } from 'vitest';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { TestHost } from './targets.ts';

export let host: TestHost;
export let server: Server;

beforeEach(() => {
  host = new TestHost();
  server = createNode(host);
});

afterEach(() => server.stop());
