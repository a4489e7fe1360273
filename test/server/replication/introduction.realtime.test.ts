/** What a replica says about itself before it asks for the stream, beside each real server. */
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { RequestDecoder } from '../../../protocol/decode.ts';
import { INTRODUCTION } from '../../../server/replication/dial.ts';
import { cleanUpAfterEachTest, cleanups, type Node, ours, real } from '../../support/nodes.ts';
import { realServers } from '../../support/oracles.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

/** A primary that says OK to everything and writes down what it is told, until it is asked for the stream. */
async function listen(): Promise<{ port: number; told: string[][] }> {
  const told: string[][] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const decoder = new RequestDecoder({ maxBulk: 1000, authenticated: true });
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      decoder.write(chunk);
      for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) {
        told.push(argv);
        if (argv[0] !== 'PSYNC') socket.write('+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return { port: address.port, told };
}

/** Everything up to PSYNC; what differs from one node to the next is left out. */
async function toldBy(node: Node): Promise<string[][]> {
  const { port, told } = await listen();
  expect(await node.ask('REPLICAOF', '127.0.0.1', String(port))).toBe('OK');
  const end = await until(() => told.findIndex(([name]) => name === 'PSYNC') + 1, { what: 'PSYNC' });
  return told.slice(0, end).map((argv) => argv.filter((word) => !/^(\d+|[0-9a-f]{40}|\?|-1)$/.test(word)));
}

/** A dataset over a connection of its own, which is not offered here. */
const CHANNELS = /^(rdb-channel-repl|dual-channel)$/;

function withoutChannels(argv: readonly string[]): string[] {
  return argv.filter((word, i) => !CHANNELS.test(word) && !CHANNELS.test(argv[i + 1] ?? ''));
}

test.skipIf(realServers().length === 0).each(realServers())(
  'as %s (needs it installed)',
  async (_name, program) => {
    const theirs = await toldBy(await real({}, program));
    const node = await ours();
    // Valkey alone tells its version.
    const version = theirs.find(([, option]) => option === 'version');
    if (version !== undefined) node.server.introduction = [...INTRODUCTION, version];
    expect(await toldBy(node)).toEqual(theirs.map(withoutChannels));
  },
);

test('a node that says more goes on when its primary refuses that', async () => {
  const [primary, replica] = [await ours(), await ours()];
  replica.server.introduction = [
    ...INTRODUCTION,
    ['REPLCONF', 'version', '8.1.1'],
    ['REPLCONF', 'nonsense', '1'],
  ];
  await replica.follow(primary);
  await primary.ask('SET', 'key', 'value');
  await replica.caughtUp(primary);
  expect(await replica.ask('GET', 'key')).toBe('value');
});
