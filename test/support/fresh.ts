/** A server of ours on a clock that the test drives, new for each test of the file that imports it. */
import { afterEach, beforeEach } from 'vitest';
import { Server } from '../../server/server.ts';
import { TestHost } from './targets.ts';

export let host: TestHost;
export let server: Server;

beforeEach(() => {
  host = new TestHost();
  server = new Server(host);
});

afterEach(() => server.stop());
