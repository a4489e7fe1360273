/** Starts Sentinels on the real clock: nodes of this process that have their own ports and share nothing. */
import { defined } from '../base/defined.ts';
import { fromText } from '../protocol/bytes.ts';
import { createSentinel } from '../sentinel/index.ts';
import type { DialectName } from '../server/dialects/index.ts';
import { nodeClock, nodeHost } from '../server/host/node.ts';
import { Listener } from '../server/host/tcp.ts';
import type { LogLevel } from '../server/ports.ts';
import type { TlsContext } from './certificates.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { LostlockSentinel } from './running/sentinel.ts';
import { type SentinelsOptions, watch } from './sentinel-options.ts';

/** What a Sentinel needs besides its options. */
export interface SentinelPlace {
  /** The address to listen on. */
  readonly host: string;
  /** The TCP port; 0 picks a free one. */
  readonly port: number;
  /** The primary to monitor; none by default. */
  readonly primary?: { readonly host: string; readonly port: number };
  /** The password of the primary and its replicas. */
  readonly password?: string;
  /** TLS for the Sentinel's port and for its connections; then there is no other port. */
  readonly tls?: TlsContext;
  readonly dialect?: DialectName;
  readonly strict?: boolean;
  readonly log?: (level: LogLevel, text: string) => void;
}

/** Starts one Sentinel. Rejects with Node's error if the address is not available. */
export async function startSentinel(
  place: SentinelPlace,
  options: SentinelsOptions,
): Promise<LostlockSentinel> {
  const { log, tls } = place;
  const node = createSentinel(nodeHost('.', nodeClock, tls?.connect), {
    elsewhere: ELSEWHERE,
    ...(place.dialect && { dialect: place.dialect }),
    ...defined({ strict: place.strict }),
    ...(log && { log: (level, text) => log(level, text) }),
    settings: { requirepass: fromText(options.password ?? ''), 'tls-replication': tls !== undefined },
  });
  const listener = new Listener(node.connections, { ...(tls && { tls: tls.serve }) });
  const { port } = await listener.listen({ host: place.host, port: place.port });
  node.settings.port = tls === undefined ? port : 0;
  node.settings['tls-port'] = tls === undefined ? 0 : port;
  if (place.primary !== undefined) watch(node, { ...place.primary, password: place.password }, options);
  node.start();
  return new LostlockSentinel(node, place.host, port, listener);
}

/**
 * Starts the Sentinels of a server, on the ports from `options.port` on, or on free ones. Rejects as `startSentinel`.
 * @param started receives each Sentinel that is running, also if a later one fails
 */
export async function startSentinels(
  place: Omit<SentinelPlace, 'port'>,
  options: SentinelsOptions & { readonly count: number },
  started: LostlockSentinel[],
): Promise<void> {
  const { count, port: first = 0 } = options;
  for (let i = 0; i < count; i++) {
    const port = first === 0 ? 0 : first + i;
    started.push(await startSentinel({ ...place, port }, options));
  }
}
