/** The servers behind the mock's clients: one for each address, in memory, which lives as long as this module. */
import type { Duplex } from 'node:stream';
import { arrange, slotsOf } from '../../cluster/arrange.ts';
import { createClusterNode } from '../../cluster/index.ts';
import { asciiLower, type Bytes, fromText } from '../../protocol/bytes.ts';
import { OK } from '../../protocol/reply.ts';
import { slotOf } from '../../protocol/slot.ts';
import { AmbientClock } from '../../server/host/ambient-clock.ts';
import { connectInMemory } from '../../server/host/in-memory.ts';
import { nodeHost } from '../../server/host/node.ts';
import { realTick } from '../../server/host/real-time.ts';
import { createNode } from '../../server/index.ts';
import type { Caller, Server } from '../../server/server.ts';
import { seed } from '../../start/control/seed.ts';
import type { DumpEntry } from '../../start/dataset.ts';
import { encodeText } from '../../start/text.ts';
import type { NodeAddress } from './load.ts';

/** The options of a client that say where its server is. */
export interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly name?: string;
  readonly sentinels?: readonly unknown[] | null;
}

const LOCAL = new Set(['localhost', '::1', '0.0.0.0', '::']);

/** One name for each address: all names of this machine are one. */
function hostOf(host = 'localhost'): string {
  return LOCAL.has(host) ? '127.0.0.1' : host;
}

function placeOf({ host, port, path, name, sentinels }: Target): string {
  if (sentinels && sentinels.length > 0) return `sentinels:${name ?? ''}`;
  return path ?? `${hostOf(host)}:${port ?? 6379}`;
}

/** The mock asks for no password: a client that has one is let in. @param seen sees every request */
function withoutPasswords(
  node: Server,
  seen: (name: Bytes, argv: readonly Bytes[]) => void = () => {},
): Server {
  node.interceptor = (client: Caller, argv: Bytes[]): boolean => {
    const name = asciiLower(argv[0] ?? '');
    if (name === 'auth') {
      client.reply(OK);
      return true;
    }
    seen(name, argv);
    const at = name === 'hello' ? argv.findIndex((word, i) => i > 1 && asciiLower(word) === 'auth') : -1;
    if (at >= 0) argv.splice(at, 3);
    return false;
  };
  return node;
}

/** The servers, by address. */
const servers = new Map<string, Server>();
/** The nodes of the cluster of each node. */
const peersOf = new WeakMap<Server, readonly Server[]>();
/** The nodes of clusters, by address. */
const members = new Map<string, Server>();

/**
 * The server at an address, which starts now if nobody has asked for it before. Its keys expire by the global Date, which may be
 * a fake.
 */
export function serverAt(target: Target): Server {
  const place = placeOf(target);
  let node = servers.get(place);
  if (node === undefined) {
    node = withoutPasswords(createNode(nodeHost('.', new AmbientClock(false))));
    if (target.port !== undefined) node.settings.port = target.port;
    servers.set(place, node);
  }
  return node;
}

/** The nodes of the cluster that has one of these addresses. It starts now if there is none: the nodes share the slots. */
export function clusterAt(addresses: readonly NodeAddress[]): readonly Server[] {
  const places = [...new Map(addresses.map((each) => [placeOf(each), each])).values()];
  if (!places.some((each) => members.has(placeOf(each)))) {
    const nodes = places.map(({ host, port }) => {
      const made = createClusterNode(nodeHost('.', new AmbientClock(false)), { settings: { port } });
      withoutPasswords(made.server, (name, argv) => {
        if (name === 'publish') spread(made.server, argv);
      });
      return { ...made, ip: fromText(hostOf(host)) };
    });
    // They never begin to talk to each other, so that no timer runs. None of them can fail.
    arrange(
      nodes.map(({ node: { cluster }, ip }) => ({ cluster, ip })),
      nodes.length,
    );
    const all = nodes.map(({ server }) => server);
    for (const [i, each] of places.entries()) members.set(placeOf(each), all[i] as Server);
    for (const node of all) peersOf.set(node, all);
  }
  return places.flatMap((each) => members.get(placeOf(each)) ?? []);
}

/** Publishes a message on the other nodes of a cluster, as its bus does. */
function spread(from: Server, [, channel, text, ...more]: readonly Bytes[]): void {
  if (channel === undefined || text === undefined || more.length > 0) return;
  for (const node of peersOf.get(from) ?? []) {
    if (node === from) continue;
    node.unit(() => node.pubsub.publish(channel, text));
    node.settle();
  }
}

/** The node of a cluster at an address that the cluster itself has named. */
export function memberAt(target: Target): Server {
  return members.get(placeOf(target)) ?? serverAt(target);
}

/** Opens a connection. It is open one tick later, also under fake timers. */
export function dial(node: Server): Duplex {
  const stream = Object.assign(connectInMemory(node.connections), { connecting: true });
  realTick(() => {
    stream.connecting = false;
    stream.emit('connect');
    stream.emit('secureConnect');
  });
  return stream;
}

/** Stores entries on the nodes that own them. */
export function store(nodes: readonly Server[], entries: readonly DumpEntry[]): void {
  for (const [i, node] of nodes.entries()) {
    const own = entries.filter(({ key }) => nodes.length === 1 || ownerOf(nodes, encodeText(key)) === i);
    if (own.length > 0) seed(node, own);
  }
}

/** Which of the nodes, which share the slots in their order, owns the key. */
function ownerOf(nodes: readonly Server[], key: Bytes): number {
  return nodes.findIndex((_, i) => slotOf(key) <= slotsOf(i, nodes.length)[1]);
}
