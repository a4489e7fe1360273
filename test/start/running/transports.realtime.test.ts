/** Every control of a server acts alike on clients in memory and over TCP: what one sees, the other sees. */
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { expect, onTestFinished, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { until } from '../../support/until.ts';

type Client = Redis;

/** One run of a scenario on one transport. */
interface Run {
  readonly server: LostlockServer;
  /** Dials; what happens to the client is noted. */
  dial(options?: object): Client;
  /** What has been noted, without repetitions: how often a client dials in vain depends on the time. */
  readonly seen: string[];
}

const EVENTS = ['ready', 'close', 'reconnecting', 'end'];

const versions = { 'ioredis 6': Redis, 'ioredis 5': Redis5 as unknown as typeof Redis };
const transports = {
  TCP: ({ host, port }: LostlockServer) => ({ host, port }),
  memory: ({ connector }: LostlockServer) => ({ Connector: connector }),
};

async function run(
  Library: typeof Redis,
  transport: keyof typeof transports,
  scenario: (run: Run) => Promise<unknown>,
): Promise<unknown> {
  const server = await startServer();
  const seen: string[] = [];
  const note = (what: string): void => {
    const cycle = ['reconnecting', 'close'].includes(what) || what.startsWith('error');
    if (!cycle || !seen.slice(seen.lastIndexOf('ready') + 1).includes(what)) seen.push(what);
  };
  const clients: Client[] = [];
  const dial = (options: object = {}): Client => {
    const client = new Library({
      ...transports[transport](server),
      retryStrategy: () => 2,
      ...options,
    } as never);
    for (const event of EVENTS) client.on(event, () => note(event));
    // A reset may reach a client before or after it has noticed that it is connected.
    client.on('error', ({ message }: Error) =>
      note(`error ${message.replace(/^.* ECONNRESET.*/, 'ECONNRESET').replace(String(server.port), 'PORT')}`),
    );
    clients.push(client);
    return client;
  };
  try {
    const result = await scenario({ server, dial, seen });
    return { result, seen: [...seen] };
  } finally {
    for (const client of clients) client.disconnect();
    await server.stop();
  }
}

/** The outcome of a promise, as text. */
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => JSON.stringify(value),
    (error: Error) => `${error.name}: ${error.message}`,
  );

const isReady = (client: Client): Promise<unknown> =>
  until(() => client.status === 'ready', { what: 'ready' });

/** What each control does to clients, and what must have been seen so that the comparison is not of two silences. */
const scenarios: Record<string, { must: string; play: (run: Run) => Promise<unknown> }> = {
  'connected = false, then true': {
    must: 'error ECONNRESET',
    play: async ({ server, dial, seen }) => {
      const client = dial();
      await client.set('k', 'v');
      server.connected = false;
      const asked = outcome(client.get('k'));
      await until(() => seen.includes('error ECONNRESET') && seen.includes('reconnecting'));
      server.connected = true;
      await isReady(client);
      return [await asked, await client.get('k')];
    },
  },
  'connected = false before a client dials': {
    must: 'ready',
    play: async ({ server, dial, seen }) => {
      server.connected = false;
      const client = dial();
      const asked = outcome(client.incr('n'));
      await until(() => seen.includes('error ECONNRESET') && seen.includes('reconnecting'));
      server.connected = true;
      return asked;
    },
  },
  'connected = false while a client gives up after two attempts': {
    must: 'end',
    play: async ({ server, dial, seen }) => {
      server.connected = false;
      const client = dial({ retryStrategy: (times: number) => (times > 2 ? null : 1) });
      const asked = outcome(client.incr('n'));
      await until(() => seen.includes('end'));
      return asked;
    },
  },
  disconnectAll: {
    must: 'close',
    play: async ({ server, dial, seen }) => {
      const client = dial();
      await client.ping();
      const popped = outcome(client.blpop('q', 0));
      await until(() => server.node.blocking.count === 1);
      const count = server.disconnectAll();
      await until(() => seen.includes('close'));
      await until(() => server.node.blocking.count === 1);
      const other = dial();
      await other.rpush('q', 'job');
      return [count, await popped];
    },
  },
  'disconnectAll in the turn in which a request is answered': {
    must: 'close',
    play: async ({ server, dial, seen }) => {
      const client = dial({ autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
      await client.ping();
      server.intercept({ command: 'echo' }, 'disconnect');
      const outcomes = Promise.all([outcome(client.incr('n')), outcome(client.echo('x'))]);
      await until(() => seen.includes('close'));
      return [await outcomes, await client.get('n')];
    },
  },
  'a rule that disconnects': {
    must: 'error ECONNRESET',
    play: async ({ server, dial }) => {
      const client = dial({ maxRetriesPerRequest: 0 });
      await client.ping();
      const rule = server.intercept({ command: 'set' }, 'disconnect');
      const asked = await outcome(client.set('k', 'v'));
      rule.remove();
      await isReady(client);
      return [asked, rule.hits, await client.get('k')];
    },
  },
  'a rule that disconnects instead of replying': {
    must: 'error ECONNRESET',
    play: async ({ server, dial }) => {
      const client = dial({ maxRetriesPerRequest: 0 });
      await client.ping();
      const rule = server.intercept({ command: 'set' }, 'disconnect-after');
      const asked = await outcome(client.set('k', 'v'));
      rule.remove();
      await isReady(client);
      return [asked, rule.hits, await client.get('k')];
    },
  },
  'rules that answer, fail, delay, and drop a reply': {
    must: 'ready',
    play: async ({ server, dial }) => {
      const client = dial({ commandTimeout: 300 });
      server.intercept({ command: 'get', argument: 'a' }, { reply: ['x', 1, null] });
      server.intercept({ command: 'get', argument: 'b' }, { error: 'OOM no' });
      server.intercept({ command: 'get', argument: 'c' }, { delayMs: 20 });
      server.intercept({ command: 'get', argument: 'd' }, 'drop-reply');
      return Promise.all(['a', 'b', 'c', 'd'].map((key) => outcome(client.get(key))));
    },
  },
  'fastForward and setTime': {
    must: 'ready',
    play: async ({ server, dial }) => {
      const client = dial();
      await client.set('k', 'v', 'PX', 60_000);
      const popped = outcome(client.blpop('q', 50));
      await until(() => server.node.blocking.count === 1);
      server.fastForward(50_000);
      const first = [await popped, await client.exists('k')];
      server.setTime(Date.now() + 120_000);
      return [...first, await client.exists('k')];
    },
  },
  restart: {
    must: 'reconnecting',
    play: async ({ server, dial, seen }) => {
      const client = dial();
      await client.set('k', 'v');
      const asked = outcome(client.blpop('q', 0));
      await until(() => server.node.blocking.count === 1);
      server.restart();
      await until(() => seen.includes('close'));
      await until(() => server.node.blocking.count === 1);
      server.seed([{ key: 'q', type: 'list', value: ['job'] }]);
      return [await asked, await client.get('k')];
    },
  },
  stop: {
    must: 'error connect ECONNREFUSED 127.0.0.1:PORT',
    play: async ({ server, dial, seen }) => {
      const client = dial({ maxRetriesPerRequest: 3 });
      await client.ping();
      const popped = outcome(client.blpop('q', 0));
      await until(() => server.node.blocking.count === 1);
      await server.stop();
      const asked = outcome(client.get('k'));
      await until(() => seen.includes('error connect ECONNREFUSED 127.0.0.1:PORT'));
      return [await popped, await asked, seen.includes('end')];
    },
  },
  'stop before a client dials': {
    must: 'error connect ECONNREFUSED 127.0.0.1:PORT',
    play: async ({ server, dial }) => {
      await server.stop();
      return outcome(dial({ maxRetriesPerRequest: 1 }).get('k'));
    },
  },
  'CLIENT KILL, SHUTDOWN and QUIT': {
    must: 'end',
    play: async ({ dial, seen }) => {
      const [victim, other] = [dial(), dial()];
      await Promise.all([victim.ping(), other.ping()]);
      await other.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await until(() => seen.includes('close'));
      await isReady(victim);
      const quit = await victim.quit();
      await until(() => seen.includes('end'));
      return [
        quit,
        await outcome(other.call('SHUTDOWN', 'NOSAVE') as Promise<unknown>).then((text) => text !== ''),
      ];
    },
  },
};

for (const [library, Library] of Object.entries(versions)) {
  for (const [control, { must, play }] of Object.entries(scenarios)) {
    test(`${control}, seen by ${library}`, async () => {
      const tcp = (await run(Library, 'TCP', play)) as { seen: string[] };
      expect(tcp.seen).toContain(must);
      expect(await run(Library, 'memory', play)).toEqual(tcp);
    });
  }
}

test('a connection that is opened in memory during an outage is reset, and one to a stopped server is refused with an error that names it', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  server.connected = false;
  const error = await new Promise<NodeJS.ErrnoException>((resolve) =>
    server.connect().once('error', resolve),
  );
  expect([error.code, error.syscall, error.message]).toEqual([
    'ECONNRESET',
    'connect',
    `connect ECONNRESET 127.0.0.1:${server.port}`,
  ]);
  await server.stop();
  expect(() => server.connect()).toThrow('connect() on a server that has stopped');
});
