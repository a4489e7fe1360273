/** nodes.conf: the ports that a node reads from the files of different servers, as Redis 7.0, 8.0 and Valkey 8.1 do. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepIn } from '../../cluster/configuration.ts';
import { createClusterNode } from '../../cluster/index.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { nodeClock, nodeHost } from '../../server/host/node.ts';
import { removeFolder } from '../support/redis-server.ts';

const [OWN, OTHER] = ['a'.repeat(40), 'b'.repeat(40)];

test.each<[string, DialectName, boolean, string, number, number]>([
  ['both ports of Redis 7.2 and later', 'redis-8.2', true, ',,tls-port=7100,shard-id=c', 7000, 7100],
  ['both ports on a bus without TLS', 'redis-8.2', false, ',,tls-port=7100,shard-id=c', 7000, 7100],
  ['a plain port in a field', 'redis-8.2', true, ',,tcp-port=7001,shard-id=c', 7001, 7000],
  ['the port of an earlier file, on a bus with TLS', 'redis-8.2', true, '', 0, 7000],
  ['the port of an earlier file, on a bus without TLS', 'redis-8.2', false, '', 7000, 0],
  ['the port of Redis 7.0, on a bus with TLS', 'redis-7.0', true, ',node.example', 0, 7000],
  ['the port of Redis 7.0, on a bus without TLS', 'redis-7.0', false, ',node.example', 7000, 0],
])('a node reads %s', async (_, dialect, busHasTls, fields, port, tlsPort) => {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-nodes-'));
  onTestFinished(() => removeFolder(dir));
  const lines = [
    `${OWN} :0@0 myself,master - 0 0 1 connected`,
    `${OTHER} 127.0.0.1:7000@17000${fields} master - 0 0 2 connected 0-16383`,
    'vars currentEpoch 2 lastVoteEpoch 0\n',
  ];
  writeFileSync(join(dir, 'nodes.conf'), lines.join('\n'));
  const settings = { 'tls-cluster': busHasTls };
  const { server, node } = createClusterNode(nodeHost(dir, nodeClock), { dialect, settings });
  onTestFinished(() => server.stop());
  server.unit(() => keepIn(node.cluster, 'nodes.conf'));
  expect(node.cluster.myself.id).toBe(OWN);
  expect(node.cluster.members.get(OTHER)).toMatchObject({ ip: '127.0.0.1', port, tlsPort, busPort: 17000 });
});
