/** The locks' conformance suite on our own server: over TCP, in memory, and on the lab's virtual clock. */
import { Redis } from 'ioredis';
import { startPair, startServer } from '../../../index.ts';
import { isLongRun } from '../../support/long.ts';
import { lockConformance } from './conformance.ts';

lockConformance('on lostlock over TCP', async () => {
  const server = await startServer();
  return { client: () => new Redis(server.url), stop: () => server.stop() };
});

// In memory the same server is reached without sockets: the sample leaves it out.
if (isLongRun) {
  lockConformance('on lostlock in memory', async () => {
    const server = await startServer();
    return {
      client: () => new Redis({ Connector: server.connector }),
      stop: () => server.stop(),
    };
  });
}

lockConformance('on a pair of the lab, on its virtual clock', async () => {
  const pair = await startPair({ clock: 'virtual', seed: 5 });
  let clients = 0;
  return {
    client: () => pair.client(`client ${++clients}`),
    run: (body) => pair.run(body),
    stop: () => pair.close(),
  };
});
