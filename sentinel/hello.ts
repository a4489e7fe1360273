/** Hello messages: how a Sentinel announces itself and its configuration, and what it learns from those of others. */
import { type Bytes, parseSafeInteger } from '../protocol/bytes.ts';
import { ReplyError } from '../protocol/reply.ts';
import { type Address, hostOf, isSame, wordsOf } from './address.ts';
import type { Instance, OtherSentinel, Primary } from './instances.ts';
import { addSentinel, removeSentinel, switchAddress } from './primaries.ts';
import { commandFor } from './renamed.ts';
import type { Sentinel } from './sentinel.ts';

/** The channel on every monitored node. */
export const HELLO_CHANNEL = '__sentinel__:hello';

/** Publishes this Sentinel's address and configuration on a node, or sends it to another Sentinel. */
export function sayHello(sentinel: Sentinel, instance: Instance): void {
  const { globals, id, epoch } = sentinel;
  const { link, group } = instance;
  const ip = globals['announce-ip'] || link.command?.localAddress;
  if (link.disconnected || ip === undefined) return;
  const { port } = sentinel;
  const { host, port: primaryPort } = group.announced;
  const words = [ip, port, id, epoch, group.name, host, primaryPort, group.configEpoch];
  link.send([commandFor(instance, 'PUBLISH'), HELLO_CHANNEL, words.join(',')], (reply) => {
    // A message that was refused is repeated at the next tick.
    if (!(reply instanceof ReplyError)) instance.publishedAt = sentinel.now;
  });
}

/** Announces the group's configuration everywhere as soon as possible, because it has changed. */
export function hurryHello(sentinel: Sentinel, primary: Primary): void {
  const period = sentinel.periods['publish-period'] + 1;
  const everyone = [primary, ...primary.sentinels.values(), ...primary.replicas.values()];
  for (const each of everyone) if (each.publishedAt >= period) each.publishedAt -= period;
}

/** A number as C's atoi reads it: a sign and digits at the beginning, or 0. */
function leadingNumber(text: Bytes): number {
  const [, sign, digits = ''] = /^\s*([+-]?)0*(\d{1,15})/.exec(text) ?? [];
  const value = parseSafeInteger(digits) ?? 0;
  return sign === '-' ? -value : value;
}

/** Handles a hello message. It is ignored when it has another form, or is about a primary that is not monitored. */
export function hearHello(sentinel: Sentinel, message: Bytes): void {
  const words = message.split(',');
  if (words.length !== 8) return;
  const [ip = '', port = '', id = '', epoch = '', name = '', primaryIp = '', primaryPort = ''] = words;
  const primary = sentinel.primaries.get(name);
  if (primary === undefined) return;
  const address = { host: ip, port: leadingNumber(port) };
  const known = [...primary.sentinels.values()].find(
    (each) => each.runId === id && isSame(each.address, address),
  );
  const other = known ?? meet(sentinel, primary, id, address);
  if (leadingNumber(epoch) > sentinel.epoch) {
    sentinel.epoch = leadingNumber(epoch);
    sentinel.flush();
    sentinel.enterEpoch(sentinel.epoch);
  }
  if (other === undefined) return;
  const configEpoch = leadingNumber(words[7] ?? '');
  if (primary.configEpoch < configEpoch) {
    primary.configEpoch = configEpoch;
    adopt(sentinel, primary, other, { host: primaryIp, port: leadingNumber(primaryPort) });
  }
  other.helloAt = sentinel.now;
}

/** Another Sentinel has won a failover: follows its configuration. */
function adopt(sentinel: Sentinel, primary: Primary, from: OtherSentinel, address: Address): void {
  if (isSame(address, primary.address)) return;
  sentinel.event('warning', '+config-update-from', from);
  const change = `${primary.name} ${wordsOf(primary.address)} ${wordsOf(address)}`;
  sentinel.announce('warning', '+switch-master', change);
  const valid = validAddress(sentinel, address);
  if (valid !== undefined) switchAddress(sentinel, primary, valid);
}

/** The address as it is stored; undefined for one that cannot exist. */
function validAddress({ globals }: Sentinel, { host, port }: Address): Address | undefined {
  const ip = hostOf(host, globals['resolve-hostnames']);
  return ip === undefined || port < 0 || port > 65535 ? undefined : { host: ip, port };
}

/** A Sentinel that was not known at this address: a new one, or one that has moved. */
function meet(sentinel: Sentinel, primary: Primary, id: Bytes, address: Address): OtherSentinel | undefined {
  const hasMoved = removeSentinel(primary, id);
  if (hasMoved) {
    const place = `ip ${address.host} port ${address.port} for ${id}`;
    sentinel.event('notice', '+sentinel-address-switch', primary, place);
  } else {
    forgetFormer(sentinel, primary, address);
  }
  const valid = validAddress(sentinel, address);
  const other = valid && addSentinel(sentinel, primary, id, valid);
  if (other === undefined) return undefined;
  if (hasMoved) follow(sentinel, other);
  else sentinel.event('notice', '+sentinel', other);
  sentinel.flush();
  return other;
}

/** Forgets a Sentinel of another id that had this address. */
function forgetFormer(sentinel: Sentinel, primary: Primary, address: Address): void {
  const former = [...primary.sentinels.values()].find((each) => isSame(each.address, address));
  if (former === undefined) return;
  sentinel.event('notice', '+sentinel-invalid-addr', former);
  for (const each of sentinel.primaries.values()) removeSentinel(each, former.runId);
}

/** A Sentinel has moved: its other instances get the new address too, and their shared link is dialled again. */
function follow(sentinel: Sentinel, moved: OtherSentinel): void {
  let updated = 0;
  for (const other of sentinel.otherSentinels()) {
    if (other.runId !== moved.runId) continue;
    other.link.close();
    if (other === moved) continue;
    other.address = moved.address;
    updated++;
  }
  if (updated === 0) return;
  sentinel.event('notice', '+sentinel-address-update', moved, `${updated} additional matching instances`);
}
