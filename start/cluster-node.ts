/** A node of a cluster on the real clock: the listener of its bus, and the file with its view of the cluster. */
import { keepIn } from '../cluster/configuration.ts';
import { createClusterNode } from '../cluster/index.ts';
import type { ClusterNode } from '../cluster/node.ts';
import { toBuffer } from '../protocol/bytes.ts';
import type { Host } from '../server/host/host.ts';
import { Listener } from '../server/host/tcp.ts';
import { createNode } from '../server/index.ts';
import type { Server, ServerOptions } from '../server/server.ts';
import type { Settings } from '../server/settings/settings.ts';
import type { TlsContext } from './certificates.ts';
import { ELSEWHERE } from './elsewhere.ts';

/** How far the port of the bus is from the port for clients, unless `cluster-port` names one. */
const DISTANCE = 10_000;
/** The highest port for clients from which the port of the bus follows. */
const HIGHEST = 65535 - DISTANCE;

/** Creates a node, as a member of a cluster if `cluster-enabled` is set. */
export function createServerNode(
  host: Host,
  given: ServerOptions,
): { readonly node: Server; readonly member: ClusterNode | undefined } {
  const options = { ...given, elsewhere: ELSEWHERE };
  if (options.settings?.['cluster-enabled'] !== true) {
    return { node: createNode(host, options), member: undefined };
  }
  const { server, node } = createClusterNode(host, options);
  return { node: server, member: node };
}

/** Makes the node listen on the port of the bus, and begin. A file keeps its view only if the settings name a directory. */
export async function openBus(
  member: ClusterNode,
  given: Partial<Settings>,
  host: string,
  isFree: boolean,
  tls: TlsContext | undefined,
): Promise<Listener> {
  const { server } = member.cluster;
  const { settings } = server;
  const withTls = settings['tls-cluster'];
  const port = (withTls && settings['tls-port']) || settings.port || settings['tls-port'];
  let wanted = settings['cluster-port'];
  if (wanted === 0 && !isFree) {
    if (port > HIGHEST) {
      throw new RangeError(
        `lostlock: port ${port} is too high for a cluster bus port 10,000 above it: use a port up to ${HIGHEST}, or set cluster-port`,
      );
    }
    wanted = port + DISTANCE;
  }
  const listener = new Listener(member, { ...(withTls && tls && { tls: tls.serve }) });
  const bound = await listener.listen({ host, port: wanted });
  if (bound.port !== port + DISTANCE) settings['cluster-port'] = bound.port;
  member.cluster.followSettings();
  if (given.dir !== undefined || given['cluster-config-file'] !== undefined) {
    server.unit(() => keepIn(member.cluster, toBuffer(settings['cluster-config-file']).toString()));
  }
  member.start();
  return listener;
}
