/** Sends a node the commands that change its role. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { Address } from './address.ts';
import type { DataInstance, Primary } from './instances.ts';
import { commandFor } from './renamed.ts';
import type { Sentinel } from './sentinel.ts';

/**
 * Makes a node follow a primary, or become one itself without an address. One transaction changes the role, stores the
 * configuration, and disconnects the clients, so that they look for the primary again. The replies do not matter: the
 * next INFO shows whether the role has changed. Returns false if the node is not connected.
 */
export function changeRole(
  sentinel: Sentinel,
  instance: DataInstance,
  address: Address | undefined,
): boolean {
  const [host, port]: Bytes[] = address === undefined ? ['NO', 'ONE'] : [address.host, String(address.port)];
  const client = commandFor(instance, 'CLIENT');
  const abort = [commandFor(instance, 'FAILOVER'), 'ABORT'];
  const requests: Bytes[][] = [
    [commandFor(instance, 'MULTI')],
    ...(sentinel.traits.coordinates && instance.isHandingOver === true ? [abort] : []),
    [commandFor(instance, 'SLAVEOF'), host ?? '', port ?? ''],
    [commandFor(instance, 'CONFIG'), 'REWRITE'],
    [client, 'KILL', 'TYPE', 'normal'],
    [client, 'KILL', 'TYPE', 'pubsub'],
    [commandFor(instance, 'EXEC')],
  ];
  return requests.every((words) => instance.link.send(words));
}

/**
 * Makes a primary hand over to a replica: it refuses writes, and takes the replica's place when that has everything.
 * @param ms how long it may take
 * @returns false if the primary is not connected
 */
export function handOver(primary: Primary, to: Address, ms: Millis): boolean {
  const requests: Bytes[][] = [
    [commandFor(primary, 'MULTI')],
    [commandFor(primary, 'CLIENT'), 'PAUSE', String(ms), 'WRITE'],
    [commandFor(primary, 'FAILOVER'), 'TO', to.host, String(to.port), 'TIMEOUT', String(ms)],
    [commandFor(primary, 'EXEC')],
  ];
  return requests.every((words) => primary.link.send(words));
}

/**
 * Disconnects the clients of a node that took part in a handover, so that they look for the primary again, stores its
 * configuration, and lets it write.
 */
export function dismissClients(instance: DataInstance): void {
  const client = commandFor(instance, 'CLIENT');
  const requests: Bytes[][] = [
    [commandFor(instance, 'MULTI')],
    [commandFor(instance, 'CONFIG'), 'REWRITE'],
    [client, 'KILL', 'TYPE', 'normal'],
    [client, 'KILL', 'TYPE', 'pubsub'],
    [client, 'UNPAUSE'],
    [commandFor(instance, 'EXEC')],
  ];
  for (const words of requests) instance.link.send(words);
}

/** True for a primary that is up, says that it is one, and said so lately: others may be told to follow it. */
export function looksSane(sentinel: Sentinel, primary: Primary): boolean {
  const { now, periods } = sentinel;
  return (
    primary.roleReported === 'master' &&
    !primary.isDown &&
    !primary.isAgreedDown &&
    now - primary.infoAt < periods['info-period'] * 2
  );
}
