/** Addresses of monitored nodes: an IP address or a host name, and a port. */
import { asciiLower, type Bytes, parseSafeInteger } from '../protocol/bytes.ts';

/** Where a node listens. */
export interface Address {
  /** As it was given; a host name only where `resolve-hostnames` is on. */
  readonly host: Bytes;
  readonly port: number;
}

const OCTAL = /^0[0-7]+$/;
const HEX = /^0[xX][0-9a-fA-F]+$/;

/** One part of an IPv4 address, which C also reads in octal and hexadecimal digits. */
function partOf(text: Bytes): number | undefined {
  if (OCTAL.test(text)) return [...text].reduce((sum, digit) => sum * 8 + digit.charCodeAt(0) - 48, 0);
  if (HEX.test(text)) return +text;
  return parseSafeInteger(text);
}

/** An IPv4 address in its usual form; undefined if the text is none. Like C, it accepts 127.1 and 0x7f000001. */
function ipv4(text: Bytes): Bytes | undefined {
  const parts = text.split('.').map(partOf);
  if (parts.length > 4) return undefined;
  let value = 0;
  for (const [i, part] of parts.entries()) {
    const isLast = i === parts.length - 1;
    const limit = isLast ? 256 ** (5 - parts.length) : 256;
    if (part === undefined || part < 0 || part >= limit) return undefined;
    value += isLast ? part : part * 256 ** (3 - i);
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** True for an IPv6 address such as ::1. */
function isIpv6(text: Bytes): boolean {
  if (!/^[0-9a-fA-F:]+(%\w+)?$/.test(text)) return false;
  const halves = text.replace(/%.*$/, '').split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : halves.length === 1 && groups.length === 8;
}

/**
 * The host of an address; undefined for what is no IP address. Names are accepted, and compared as text, only where
 * `resolve-hostnames` is on: a node cannot ask a name server.
 */
export function hostOf(text: Bytes, acceptsNames: boolean): Bytes | undefined {
  const address = ipv4(text) ?? (isIpv6(text) ? asciiLower(text) : undefined);
  if (address !== undefined) return address;
  return acceptsNames && /^[\w.-]+$/.test(text) ? text : undefined;
}

/** True when both are the same place. */
export function isSame(a: Address, b: Address): boolean {
  return a.port === b.port && asciiLower(a.host) === asciiLower(b.host);
}

/** `host:port`, the name of a replica. */
export function nameOf({ host, port }: Address): Bytes {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `host port`, as events print it. */
export function wordsOf({ host, port }: Address): Bytes {
  return `${host} ${port}`;
}
