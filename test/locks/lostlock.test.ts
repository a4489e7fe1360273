/** The locks' conformance suite on our own server, over TCP and in memory. */
import { Redis } from 'ioredis';
import { startServer } from '../../index.ts';
import { lockConformance } from './conformance.ts';

lockConformance('on lostlock over TCP', async () => {
  const server = await startServer();
  return { client: () => new Redis(server.url), stop: () => server.stop() };
});

lockConformance('on lostlock in memory', async () => {
  const server = await startServer();
  return {
    client: () => new Redis({ Connector: server.connector }),
    stop: () => server.stop(),
  };
});
