/** What passes on the link between a primary and a replica, besides the stream, beside each real server. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { encodeRequest } from '../../../protocol/encode.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { cleanUpAfterEachTest, cleanups, type Node, ours, real } from '../../support/nodes.ts';
import { oracleOf } from '../../support/oracles.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

const SERVERS = (
  ['redis-7.0', 'redis-8.0', 'redis-8.2', 'redis-8.6', 'valkey-8.1', 'valkey-9'] as const
).flatMap((name): [DialectName, string][] => {
  const program = oracleOf(name);
  return program === undefined ? [] : [[name, program]];
});
// Valkey stays connected after a line, and reads nothing more.
const REDIS = SERVERS.filter(([name]) => name.startsWith('redis'));

async function both(name: DialectName, program: string): Promise<[Node, Node]> {
  const node = await ours({}, { dialect: name, strict: true });
  return [node, await real({ 'repl-ping-replica-period': 3600 }, program)];
}

/** A connection that keeps what it receives. */
async function wire(
  port: number,
): Promise<{ say(...words: string[]): void; heard(): string; ended: boolean }> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  cleanups.push(() => void socket.destroy());
  await once(socket, 'connect');
  let heard = '';
  const end = {
    say: (...words: string[]) => void socket.write(encodeRequest(words), 'latin1'),
    heard: () => heard,
    ended: false,
  };
  socket.on('data', (chunk) => (heard += chunk.toString('latin1'))).on('close', () => (end.ended = true));
  return end;
}

/** A replica whose stream has begun. */
async function follower(node: Node): ReturnType<typeof wire> {
  const link = await wire(node.port);
  link.say('PSYNC', '?', '-1');
  await until(async () => (await node.field('slave0'))?.includes('state=online'), { what: 'the replica' });
  link.say('REPLCONF', 'ACK', '0');
  return link;
}

const REPLCONF = [
  'ack x',
  'ack 5 fack x',
  'fack 5',
  'listening-port x',
  'listening-port -1',
  'capa junk capa eof',
  'rdb-only 2',
  'rdb-only x',
  'rdb-filter-only data',
  'rdb-channel 1',
  'rdb-channel 2',
  'rdb-channel x',
  'main-ch-client-id 3',
  'main-ch-client-id x',
  'set-rdb-client-id 3',
  'set-rdb-client-id x',
  'set-cluster-node-id x',
  'set-cluster-node-id 0123456789012345678901234567890123456789',
  'version x',
  'version 1.2',
  'version 1.2.3',
  'start-offset 5',
  'getack',
];

test.skipIf(SERVERS.length === 0).each(SERVERS)(
  '%s answers REPLCONF alike (needs it installed)',
  async (name, program) => {
    const answers = async (node: Node): Promise<string[]> => {
      const all: string[] = [];
      for (const words of REPLCONF) {
        const link = await wire(node.port);
        link.say('REPLCONF', ...words.split(' '));
        link.say('ECHO', 'behind');
        await until(() => link.heard().includes('behind'), { what: `the reply to ${words}` });
        all.push(`${words}: ${link.heard()}`);
      }
      return all;
    };
    const [mine, theirs] = await both(name, program);
    expect(await answers(mine)).toEqual(await answers(theirs));
  },
);

test.skipIf(SERVERS.length === 0).each(SERVERS)(
  '%s sends parts of a dataset only without a length (needs it installed)',
  async (name, program) => {
    const [mine, theirs] = await both(name, program);
    const answer = async (node: Node): Promise<string> => {
      const link = await wire(node.port);
      link.say('REPLCONF', 'rdb-filter-only', 'functions');
      await until(() => link.heard() !== '', { what: 'OK' });
      link.say('PSYNC', '?', '-1');
      return until(() => /-.*/.exec(link.heard())?.[0], { what: 'the refusal' });
    };
    expect(await answer(mine)).toBe(await answer(theirs));
  },
);

const REQUESTS = [
  'PING',
  'GET a',
  'NOSUCH',
  'SUBSCRIBE x',
  'MULTI',
  'ROLE',
  'WAIT 0 0',
  'REPLCONF capa eof',
  'QUIT',
  'RESET',
  'HELLO 3',
];
const SILENT = ['REPLCONF ACK 0', 'REPLCONF GETACK *', 'PSYNC ? -1', 'MONITOR', 'CLIENT REPLY OFF'];

test.skipIf(SERVERS.length === 0).each(SERVERS)(
  '%s disconnects a replica that asks for a reply (needs it installed)',
  async (name, program) => {
    const outcome = async (node: Node, words: string): Promise<string> => {
      const link = await follower(node);
      const before = link.heard();
      link.say(...words.split(' '));
      const stays = SILENT.includes(words);
      // A request that is answered on another connection came after this one.
      for (let i = 0; i < 3; i++) await node.ask('PING');
      if (!stays) await until(() => link.ended, { what: `the end after ${words}` });
      return `${words}: ${link.ended ? 'ended' : 'goes on'}${link.heard().slice(before.length)}`;
    };
    const [mine, theirs] = await both(name, program);
    for (const words of [...REQUESTS, ...SILENT]) {
      // One after the other: the field that is waited for is that of the first replica.
      expect(await outcome(mine, words)).toBe(await outcome(theirs, words));
      for (const node of [mine, theirs]) {
        await node.ask('CLIENT', 'KILL', 'TYPE', 'replica');
        await until(async () => (await node.field('connected_slaves')) === '0', { what: 'no replica' });
      }
    }
  },
);

/** A primary that has this dataset, says what it is told to, and keeps what replicas ask for. */
async function primary(dataset: Buffer): Promise<{ port: number; asked: string[]; say(text: string): void }> {
  const sockets: Socket[] = [];
  const asked: string[] = [];
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      for (const [, name = ''] of text.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (name === 'PSYNC') {
          asked.push(/PSYNC\r\n\$\d+\r\n(\S+)/.exec(text)?.[1] ?? '');
          socket.write(`+FULLRESYNC ${'a'.repeat(40)} 0\r\n$${dataset.length}\r\n`);
          socket.write(dataset);
        } else if (!text.includes('ACK')) socket.write('+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return { port: address.port, asked, say: (text) => void sockets.at(-1)?.write(text, 'latin1') };
}

/** The dataset of an empty node. */
async function emptyDataset(node: Node): Promise<Buffer> {
  const link = await wire(node.port);
  link.say('PSYNC', '?', '-1');
  const rdb = await until(() => /\r\n\$\d+\r\n((?:REDIS|VALKEY)[\s\S]*)/.exec(link.heard())?.[1], {
    what: 'the dataset',
  });
  return Buffer.from(rdb, 'latin1');
}

test.skipIf(REDIS.length === 0).each(REDIS)(
  '%s applies scripts of its primary, and no lines (needs it installed)',
  async (name, program) => {
    const [mine, theirs] = await both(name, program);
    const dataset = await emptyDataset(theirs);
    const story = async (node: Node): Promise<unknown[]> => {
      const { port, asked, say } = await primary(dataset);
      await node.follow({ port });
      say(encodeRequest(['SELECT', '0']) + encodeRequest(['EVAL', "return redis.call('SET','k','v')", '0']));
      await until(async () => (await node.ask('GET', 'k')) === 'v', { what: 'what the script wrote' });
      say('\n');
      say('SET line 1\r\n');
      await until(() => asked.length === 2, { what: 'another dataset' });
      return [asked.slice(1), await node.ask('GET', 'line')];
    };
    expect(await story(mine)).toEqual(await story(theirs));
  },
);
