/** When a node of a cluster judges whether it may serve: at the end of an event, on redis-server and on ours. */
import { expect, test } from 'vitest';
import { encodeRequest } from '../../protocol/encode.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { printReply } from '../support/reply-text.ts';
import { until } from '../support/until.ts';
import { ourNode, realNode, type TestNode } from './nodes.ts';

const kinds: [string, () => Promise<TestNode>][] = [['ours', () => ourNode('redis-7.0')]];
if (hasRedisServer) kinds.push(['the real one', () => realNode('redis-server')]);

test.each(kinds)(
  'a node judges its state after the requests that came together: %s',
  async (_kind, start) => {
    const node = await start();
    const ask = async (...lines: string[]): Promise<string[]> => {
      await node.admin.send(lines.map((line) => encodeRequest(line.split(' '))).join(''));
      const replies: string[] = [];
      for (const _line of lines) replies.push(printReply((await node.admin.read()).value));
      return replies;
    };
    await ask('CLUSTER ADDSLOTSRANGE 0 16383');
    await until(async () => (await ask('SET a 1'))[0] === '+OK', {
      what: 'a cluster of one node',
      limitMs: 60_000,
    });
    const taken = await ask('CLUSTER DELSLOTS 1', 'SET a 2');
    const after = await ask('SET a 3');
    expect([taken, after]).toEqual([['+OK', '+OK'], ['-CLUSTERDOWN The cluster is down']]);
    expect(await ask('CLUSTER ADDSLOTS 1', 'SET a 4')).toEqual(['+OK', '-CLUSTERDOWN The cluster is down']);
    await node.stop();
  },
);
