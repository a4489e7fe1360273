/** Clusters with TLS, of real servers and of ours, that are configured with the same words and asked the same. */
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { optionsOfArguments } from '../../../cli/start-options.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { startServer } from '../../../start/start.ts';
import { printed } from '../../differential/cluster/compare.ts';
import { certificateSettings, clientTls } from '../../support/certificates/files.ts';
import { RawClient } from '../../support/raw-client.ts';
import { isFree, removeFolder, startRedisServer } from '../../support/redis-server.ts';
import { printReply, type RawReply } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';
import { askNode } from '../nodes.ts';
import {
  ALONE,
  AWAITED,
  AWAITED_SLOT,
  MOVING_SLOT,
  type NodePorts,
  QUESTIONS,
  REPLICA_QUESTIONS,
  type Scene,
} from './scenes.ts';

const limitMs = 60_000;

/** A node that was started, and connections to it by each transport that it has. */
interface PortsNode {
  readonly ports: NodePorts;
  readonly id: string;
  readonly admin: RawClient;
  readonly dir: string;
  stop(): Promise<void>;
}

/** Starts a server with the directives of redis.conf. */
export type Start = (
  settings: Readonly<Record<string, string>>,
) => Promise<{ dir: string; path: string; stop(): Promise<void> }>;

function argumentsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Starts servers of ours. */
export function ours(dialect: DialectName): Start {
  return async (settings) => {
    const dir = await mkdtemp(join(tmpdir(), 'lostlock-ports-'));
    const path = join(dir, 'node.sock');
    const args = argumentsOf({ ...settings, dir, unixsocket: path });
    const server = await startServer({ ...optionsOfArguments('args', args), dialect, strict: true });
    const stop = async (): Promise<void> => {
      await server.stop();
      await removeFolder(dir);
    };
    return { dir, path, stop };
  };
}

/** Starts real servers. */
export function real(program: string): Start {
  return (settings) => startRedisServer({ program, args: argumentsOf(settings) });
}

/**
 * Random ports that are free. Plain ports are even and TLS ports odd, and buses have a range of their own, so no port is
 * 10,000 above that of another node.
 */
async function freePorts({ listens }: Scene): Promise<NodePorts> {
  const random = (least: number): number => least + 2 * Math.floor(Math.random() * 5000);
  for (;;) {
    const [plain, tls, bus] = [random(20_000), random(30_001), random(50_000)];
    const all = [plain, tls, bus, plain + 10_000, tls + 10_000];
    if (!(await Promise.all(all.map(isFree))).every(Boolean)) continue;
    return {
      plain: listens === 'with TLS only' ? 0 : plain,
      tls: listens === 'without TLS only' ? 0 : tls,
      bus,
    };
  }
}

async function dialTls(port: number): Promise<RawClient> {
  const socket = connectTls({ port, host: '127.0.0.1', ...clientTls });
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return RawClient.connect(socket);
}

/** A cluster of a scene. */
export class PortsCluster {
  readonly #scene: Scene;
  readonly #nodes: readonly PortsNode[];
  /** Replicas of Redis 7.0 dial the port of the bus's transport, whatever theirs is. */
  readonly #canFollow: boolean;

  private constructor(scene: Scene, nodes: readonly PortsNode[], dialect: DialectName) {
    this.#scene = scene;
    const { 'tls-cluster': bus, 'tls-replication': replication } = scene.settings;
    this.#canFollow = dialect !== 'redis-7.0' || bus === replication;
    this.#nodes = nodes;
  }

  static async start(scene: Scene, dialect: DialectName, start: Start): Promise<PortsCluster> {
    const nodes: PortsNode[] = [];
    const cluster = new PortsCluster(scene, nodes, dialect);
    try {
      for (let i = 0; i < scene.nodes; i++) nodes.push(await startNode(scene, i, start));
      await cluster.#form();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #form(): Promise<void> {
    const { nodes: count, settings, first = [] } = this.#scene;
    const [one, two, replica] = this.#nodes;
    const shares =
      count === 1
        ? [['0', '16383']]
        : [
            ['0', '8191'],
            ['8192', '16383'],
          ];
    for (const [i, share] of shares.entries()) {
      const { admin } = this.#nodes[i] as PortsNode;
      await askNode(admin, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
      await askNode(admin, 'CLUSTER', 'ADDSLOTSRANGE', ...share);
    }
    for (const { ports } of this.#nodes.slice(1)) {
      const port = settings['tls-cluster'] === 'yes' ? ports.tls || ports.plain : ports.plain || ports.tls;
      await askNode(
        (one as PortsNode).admin,
        'CLUSTER',
        'MEET',
        '127.0.0.1',
        String(port),
        String(ports.bus),
      );
    }
    await this.#each(new RegExp(`known_nodes:${count}\\D`), 'nodes that know each other');
    if (replica !== undefined) {
      const follow = () => askNode(replica.admin, 'CLUSTER', 'REPLICATE', (one as PortsNode).id);
      await until(async () => (await follow()) === '+OK', { what: 'a primary to replicate', limitMs });
    }
    // Enough that every node has told every other one its ports.
    if (count > 1) await this.#each(/cluster_state:ok.*messages_ping_received:([4-9]|\d\d)/s, 'pings');
    if (replica !== undefined) await this.#follow(one as PortsNode, replica);
    for (const words of first) await askNode((one as PortsNode).admin, ...words);
    if (two !== undefined) {
      await askNode((one as PortsNode).admin, 'CLUSTER', 'SETSLOT', MOVING_SLOT, 'MIGRATING', two.id);
    }
  }

  /** Waits until the replica is shown, which needs something in the stream; or only known, where it cannot follow. */
  async #follow({ admin, id }: PortsNode, replica: PortsNode): Promise<void> {
    const shown = async (): Promise<boolean> => {
      await askNode(admin, 'SET', '{f}', 'v');
      const slots = await askNode(admin, 'CLUSTER', 'SLOTS');
      const known = await askNode(admin, 'CLUSTER', 'REPLICAS', id);
      return (this.#canFollow ? slots : known).includes(replica.id);
    };
    await until(shown, { what: 'a replica that is shown', limitMs });
    await askNode(admin, 'DEL', '{f}');
  }

  async #each(wanted: RegExp, what: string): Promise<void> {
    for (const { admin } of this.#nodes) {
      await until(async () => wanted.test(await askNode(admin, 'CLUSTER', 'INFO')), { what, limitMs });
    }
  }

  /** Everything that clients of both transports were told, as text. */
  async tell(): Promise<string> {
    const told: string[] = [];
    const asked = [this.#nodes.length === 1 ? ALONE : QUESTIONS, [], REPLICA_QUESTIONS];
    for (const [index, questions] of asked.entries()) {
      const node = this.#nodes[index];
      if (node === undefined || questions.length === 0) continue;
      for (const [transport, client] of await this.#clients(node)) {
        told.push(`-- ${index === 0 ? '' : 'the replica, '}${transport}`);
        for (const words of questions) told.push(await this.#ask(client, words));
        client.close();
      }
    }
    if (this.#nodes.length > 1) told.push(await this.#redirectBlocked());
    told.push('-- nodes.conf', await this.#file());
    return `${told.join('\n')}\n`;
  }

  async #clients({ ports: { plain, tls } }: PortsNode): Promise<[string, RawClient][]> {
    const found: [string, RawClient][] = [];
    if (plain !== 0) found.push(['plain', await RawClient.connect({ port: plain })]);
    if (tls !== 0) found.push(['tls', await dialTls(tls)]);
    return found;
  }

  async #ask(client: RawClient, words: readonly string[]): Promise<string> {
    const [first, second] = this.#nodes;
    const meanings: Record<string, unknown> = {
      '<ID0>': first?.id,
      '<PLAIN1>': second?.ports.plain,
      '<TLS1>': second?.ports.tls,
    };
    const [name = '', ...rest] = words.map((word) => String(meanings[word] ?? word));
    const { value } = await client.ask(name, ...rest);
    const hide = (each: string): string => this.#hide(each);
    const text =
      rest[0] === 'SHARDS'
        ? nodesOfShards(value, hide)
        : rest[0] === 'SLOTS'
          ? hide(printReply(value))
          : printed(words, value, hide);
    return `${words.join(' ')}\n${withoutOffsets(words, text).replace(/^/gm, '  ')}`;
  }

  async #redirectBlocked(): Promise<string> {
    const [one, two] = this.#nodes as [PortsNode, PortsNode];
    const clients = await this.#clients(one);
    const waiting = clients.map(async ([transport, client]) => {
      const { value } = await client.ask('BLPOP', AWAITED, '0');
      return `${transport} ${printed(['BLPOP'], value, (each) => this.#hide(each))}`;
    });
    const blocked = `blocked_clients:${clients.length}`;
    await until(async () => (await askNode(one.admin, 'INFO', 'clients')).includes(blocked), {
      what: blocked,
      limitMs,
    });
    await askNode(one.admin, 'CLUSTER', 'SETSLOT', AWAITED_SLOT, 'NODE', two.id);
    const answers = await Promise.all(waiting);
    for (const [, client] of clients) client.close();
    return ['-- blocked clients whose slot is moved', ...answers].join('\n');
  }

  async #file(): Promise<string> {
    const [one] = this.#nodes as [PortsNode];
    await askNode(one.admin, 'CLUSTER', 'SAVECONFIG');
    const lines = readFileSync(join(one.dir, 'nodes.conf'), 'latin1').split('\n');
    return lines
      .filter((line) => line !== '' && !line.startsWith('vars'))
      .map((line) => {
        const [id = '', address = ''] = this.#hide(line).split(' ');
        return `${id} ${address.replace(/shard-id=[0-9a-f]+/, 'shard-id=SHARD')}`;
      })
      .sort()
      .join('\n');
  }

  /** Replaces ids and ports by their meanings. */
  #hide(text: string): string {
    let out = text;
    for (const [i, { id, ports }] of this.#nodes.entries()) {
      const names: [number, string][] = [
        [ports.bus, 'BUS'],
        [ports.plain, 'PLAIN'],
        [ports.tls, 'TLS'],
        [ports.plain + 10_000, 'PLAIN+10000-'],
        [ports.tls + 10_000, 'TLS+10000-'],
      ];
      out = out.replaceAll(id, `ID${i}`);
      for (const [port, name] of names) {
        if (port % 10_000 !== 0) out = out.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `${name}${i}`);
      }
    }
    return out;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }
}

/** The nodes of CLUSTER SHARDS, a line for each, in an order that does not depend on hashes. */
function nodesOfShards([, shards]: RawReply, hide: (text: string) => string): string {
  const lines = (shards as readonly RawReply[]).flatMap(([, fields]) => {
    const [, , , [, nodes]] = fields as [RawReply, RawReply, RawReply, RawReply];
    return (nodes as readonly RawReply[]).map((node) => hide(printReply(node)));
  });
  return lines
    .sort()
    .join('\n')
    .replace(/"replication-offset" :\d+ /g, '');
}

/** Of INFO, only what has ports. */
function withoutOffsets(words: readonly string[], text: string): string {
  if (words[0] === 'ROLE') return text.replace(/ :-?\d+\]$/, ']');
  if (words[0] !== 'INFO') return text;
  return (text.match(/(slave0:ip=[^,]*,port=[^,]*|master_host:[^\\]*|master_port:[^\\]*)/g) ?? []).join('\n');
}

async function startNode(scene: Scene, index: number, start: Start): Promise<PortsNode> {
  const ports = await freePorts(scene);
  const server = await start({
    ...certificateSettings,
    'cluster-enabled': 'yes',
    'cluster-node-timeout': '2000',
    'repl-diskless-sync-delay': '0',
    port: String(ports.plain),
    'tls-port': String(ports.tls),
    'cluster-port': String(ports.bus),
    ...scene.settings,
    ...scene.own?.(index, ports),
  });
  const admin = await RawClient.connect({ path: server.path });
  const id = (await askNode(admin, 'CLUSTER', 'MYID')).slice(1, -1);
  const stop = (): Promise<void> => {
    admin.close();
    return server.stop();
  };
  return { ports, id, admin, dir: server.dir, stop };
}
