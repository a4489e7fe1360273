/** Clusters of real servers and of ours, set up with the same commands, so that both can be asked the same. */

import type { DialectName } from '../../server/dialects/index.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { startServer } from '../../start/start.ts';
import { RawClient } from '../support/raw-client.ts';
import { freePort, startRedisServer } from '../support/redis-server.ts';
import { printReply } from '../support/reply-text.ts';
import { until } from '../support/until.ts';

/** A node of a cluster, of either kind. */
export interface TestNode {
  readonly port: number;
  readonly id: string;
  /** A connection for set-up. */
  readonly admin: RawClient;
  stop(): Promise<void>;
}

/** How long a node may be silent, in milliseconds. */
const NODE_TIMEOUT = '5000';

/** Asks a question and returns the reply as one line. */
export async function askNode(client: RawClient, ...words: string[]): Promise<string> {
  const [first = '', ...rest] = words;
  return printReply((await client.ask(first, ...rest)).value);
}

/** The node that listens on a port; `stop` ends it. */
export async function nodeAt(port: number, stop: () => Promise<void>): Promise<TestNode> {
  const admin = await RawClient.connect({ port });
  const id = (await askNode(admin, 'CLUSTER', 'MYID')).slice(1, -1);
  const end = (): Promise<void> => {
    admin.close();
    return stop();
  };
  return { port, id, admin, stop: end };
}

/** Starts a node of ours that knows nobody. */
export async function ourNode(dialect: DialectName, more: Partial<Settings> = {}): Promise<TestNode> {
  const settings = { 'cluster-enabled': true, 'cluster-node-timeout': Number(NODE_TIMEOUT), ...more };
  const server = await startServer({ port: 0, dialect, strict: true, settings });
  return nodeAt(server.port, () => server.stop());
}

/** Starts a real node that knows nobody. */
export async function realNode(program: string, ...more: readonly string[]): Promise<TestNode> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', NODE_TIMEOUT, ...more];
  args.push('--cluster-port', String(await freePort()), '--repl-diskless-sync-delay', '0');
  const server = await startRedisServer({ tcp: true, program, args });
  return nodeAt(server.port, server.stop);
}

/** The slots of each primary, both ends included. */
export const SHARES: readonly (readonly [number, number])[] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
];

/** A key of each primary. */
const KEYS = ['{b}', '{c}', '{a}'];

/** Makes nodes a cluster: three primaries, and each further node a replica of the first, the second, the third. */
export async function form(nodes: readonly TestNode[]): Promise<void> {
  const [first] = nodes as [TestNode];
  const replicas = nodes.slice(SHARES.length).map((node, i) => ({ node, of: nodes[i] as TestNode }));
  for (const [i, node] of nodes.entries()) {
    await askNode(node.admin, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
    const share = SHARES[i];
    if (share !== undefined) await askNode(node.admin, 'CLUSTER', 'ADDSLOTSRANGE', ...share.map(String));
  }
  const bus = (node: TestNode) => askNode(node.admin, 'CONFIG', 'GET', 'cluster-port');
  // A handshake that takes too long on a busy machine is given up, and must be begun again.
  const meet = async (node: TestNode): Promise<boolean> => {
    const known = await askNode(first.admin, 'CLUSTER', 'NODES');
    if (known.includes(node.id)) return true;
    const [, , , busPort = ''] = (await bus(node)).split('"');
    if (!known.includes(`:${node.port}@`)) {
      await askNode(first.admin, 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), busPort);
    }
    return false;
  };
  for (const node of nodes.slice(1))
    await until(() => meet(node), { what: 'a node that is met', limitMs: 60_000 });
  const agree = async (wanted: RegExp): Promise<boolean> => {
    for (const { admin } of nodes) if (!wanted.test(await askNode(admin, 'CLUSTER', 'INFO'))) return false;
    return true;
  };
  const known = new RegExp(`known_nodes:${nodes.length}\\D`);
  await until(() => agree(known), { what: 'nodes that know each other', limitMs: 60_000 });
  for (const { node, of } of replicas) {
    await until(async () => (await askNode(node.admin, 'CLUSTER', 'REPLICATE', of.id)) === '+OK', {
      what: 'a primary to replicate',
      limitMs: 60_000,
    });
  }
  const settled = async (): Promise<boolean> => {
    if (!(await agree(/cluster_state:ok.*cluster_size:3/s))) return false;
    for (const { node, of } of replicas) {
      // A replica is shown once it has something of the stream.
      await askNode(of.admin, 'SET', KEYS[nodes.indexOf(of)] as string, 'v');
      for (const { admin } of nodes) {
        const text = await askNode(admin, 'CLUSTER', 'NODES');
        const slots = await askNode(admin, 'CLUSTER', 'SLOTS');
        if (!slots.includes(node.id)) return false;
        if (!text.includes(`slave ${of.id}`) || /handshake|disconnected/.test(text)) return false;
      }
      if (!(await askNode(node.admin, 'INFO', 'replication')).includes('master_link_status:up')) return false;
    }
    return true;
  };
  await until(settled, { what: 'a cluster in which all agree', limitMs: 60_000 });
}

/** Replaces the ids and ports of the nodes by their numbers. */
export function anonymous(nodes: readonly TestNode[], text: string): string {
  let out = text;
  for (const [i, { id, port }] of nodes.entries()) {
    out = out.replaceAll(id, `ID${i}`).replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `PORT${i}`);
  }
  return out;
}
