/** The addresses and ports that a node listens on: TCP with and without TLS, and a unix socket. */
import { chmodSync } from 'node:fs';
import { fromText } from '../protocol/bytes.ts';
import { listenable, placed } from '../server/host/directory.ts';
import { Listener, type ListenerOptions } from '../server/host/tcp.ts';
import type { Door } from './control/door.ts';
import type { TlsPlan } from './tls.ts';

/** Where a node listens. */
export interface Addresses {
  /** The addresses of redis.conf's `bind`, separated by spaces; default 127.0.0.1. */
  readonly host?: string;
  /** The TCP port; 0, the default, picks a free one. */
  readonly port?: number;
  /** The path of a unix socket; a relative one is taken from the node's `dir`. */
  readonly unixSocket?: string;
}

/** Addresses of `bind` that only this machine reaches. */
const LOOPBACK = /^-?(127\.|::1$|localhost$)/;

/** The names of redis.conf's `bind` for every address of a kind. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '*': '0.0.0.0', '::*': '::' };

/** How many times a node that was given no port tries to find one that is free at all its addresses. */
const ATTEMPTS = 10;

/** Something that listens. */
interface Closing {
  close(): Promise<unknown>;
}

/** Listens at one address. Resolves to what listens there, and its port. */
type OpenAt<L> = (host: string, port: number) => Promise<readonly [listener: L, port: number]>;

/**
 * Listens on a port of every address. Returns the port, which is the same for all of them. Rejects with Node's error, and then listens
 * nowhere.
 * @param wanted 0 picks a port that is free at all addresses
 * @param bind as in redis.conf; default 127.0.0.1
 * @param listeners receives what listens
 */
export async function listenOn<L extends Closing>(
  wanted: number,
  bind: string | undefined,
  open: OpenAt<L>,
  listeners: L[],
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const opened: L[] = [];
    try {
      const port = await listenAt(wanted, bind, open, opened);
      listeners.push(...opened);
      return port;
    } catch (error) {
      await Promise.all(opened.map((each) => each.close()));
      // A port that was free at the first address may be in use at the next one.
      if (wanted !== 0 || opened.length === 0 || codeOf(error) !== 'EADDRINUSE' || attempt === ATTEMPTS)
        throw error;
    }
  }
}

async function listenAt<L>(
  wanted: number,
  bind: string | undefined,
  open: OpenAt<L>,
  opened: L[],
): Promise<number> {
  let port = wanted;
  for (const { host, mayBeMissing } of boundAddresses(bind)) {
    try {
      const [listener, own] = await open(host, port);
      opened.push(listener);
      port = own;
    } catch (error) {
      if (!mayBeMissing || !isMissing(error)) throw error;
    }
  }
  return port;
}

/** Makes a node listen on TCP. */
function openTcp(door: Door, how: ListenerOptions = {}): OpenAt<Listener> {
  return async (host, port) => {
    const tcp = new Listener(door, how);
    const { port: own } = await tcp.listen({ host, port });
    return [tcp, own];
  };
}

/** The addresses of redis.conf's `bind`. One with '-' in front may be missing on this machine. */
function boundAddresses(bind = '127.0.0.1'): { readonly host: string; readonly mayBeMissing: boolean }[] {
  return bind.split(' ').map((word) => {
    const address = word.replace(/^-/, '');
    return { host: ANY_ADDRESS[address] ?? address, mayBeMissing: word.startsWith('-') };
  });
}

/** True for the error that this machine does not have the address. */
function isMissing(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Listens on the port for TLS, if there is one. Returns the port. */
async function listenSecurely(
  door: Door,
  addresses: Addresses,
  tls: TlsPlan | undefined,
  listeners: Listener[],
): Promise<number | undefined> {
  if (tls?.port === undefined) return undefined;
  const failed = (why: string, address: string): void =>
    door.node.log('warning', `Error accepting a client connection: ${why} (addr=${address})`);
  return listenOn(tls.port, addresses.host, openTcp(door, { tls: tls.context.serve, failed }), listeners);
}

/**
 * Makes a node listen, and notes the ports in its settings. Rejects with Node's error if an address is not available.
 * @param listeners receives every listener that is open, also if a later one fails
 */
export async function listen(
  door: Door,
  addresses: Addresses,
  tls: TlsPlan | undefined,
  listeners: Listener[],
): Promise<void> {
  const { settings } = door.node;
  settings.port = 0;
  // Both begin in one turn of the event loop, so that none of them answers before the other one is open.
  const ports = await Promise.allSettled([
    tls?.plain === false ? 0 : listenOn(addresses.port ?? 0, addresses.host, openTcp(door), listeners),
    listenSecurely(door, addresses, tls, listeners),
  ]);
  const failed = ports.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed !== undefined) throw failed.reason;
  const [plain, secure] = ports.map((each) => (each as PromiseFulfilledResult<number | undefined>).value);
  settings.port = plain ?? 0;
  if (secure !== undefined) settings['tls-port'] = secure;
  const warning = openToAll(door, addresses);
  if (warning !== undefined) door.node.log('warning', warning);
  const { unixSocket } = addresses;
  if (unixSocket === undefined) return;
  const unix = new Listener(door, { path: unixSocket });
  listeners.push(unix);
  const path = listenable(placed(settings.dir, fromText(unixSocket)));
  await unix.listen({ path });
  const mode = Number(`0o${settings.unixsocketperm}`);
  if (mode !== 0) chmodSync(path, mode);
}

/**
 * The warning that everybody who reaches the ports can use the node; undefined if that is not so: it listens on this machine only, or asks
 * for a password, or protected mode refuses other machines.
 */
export function openToAll({ node }: Door, { host = '127.0.0.1' }: Addresses): string | undefined {
  const { port, 'tls-port': tlsPort, 'protected-mode': isProtected } = node.settings;
  const { enabled, noPassword } = node.acl.default;
  const reachable = host.split(' ').filter((address) => address !== '' && !LOOPBACK.test(address));
  if (isProtected || !enabled || !noPassword || reachable.length === 0) return undefined;
  return (
    `WARNING: everybody who reaches port ${port || tlsPort} can read and change all data: it is open at ` +
    `${reachable.join(' ')}, without a password. There are two ways out: a password (--requirepass WORD), or a network ` +
    'of its own (for a container: docker run --network NAME, or -p 127.0.0.1:6379:6379).'
  );
}

/** The address of this machine at which a node with these addresses can be reached. */
export function reachableHost({ host: addresses = '127.0.0.1' }: Addresses): string {
  const [first = ''] = addresses.split(' ');
  const address = first.replace(/^-/, '');
  const host = ANY_ADDRESS[address] ?? address;
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1', localhost: '127.0.0.1' };
  return anywhere[host] ?? host;
}
