/** Notes work for Node's thread pool and name servers that code in a world asks for: virtual time cannot finish it. */
import crypto from 'node:crypto';
import dns from 'node:dns';
import zlib from 'node:zlib';
import { present } from '../time/present.ts';
import { type AnyFunction, lay } from './dress-like.ts';

const { subtle } = globalThis.crypto;

/** What Node begins without listing it among its resources, unlike files and sockets. */
const work: readonly [owner: object, label: string, names: readonly string[]][] = [
  [crypto, 'crypto', ['pbkdf2', 'scrypt', 'hkdf', 'generateKey', 'generateKeyPair', 'generatePrime']],
  [crypto, 'crypto', ['checkPrime', 'sign', 'verify']],
  [subtle, 'crypto.subtle', ['digest', 'sign', 'verify', 'encrypt', 'decrypt', 'deriveBits', 'deriveKey']],
  [subtle, 'crypto.subtle', ['generateKey', 'importKey']],
  [zlib, 'zlib', ['gzip', 'gunzip', 'deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'unzip']],
  [zlib, 'zlib', ['brotliCompress', 'brotliDecompress']],
  [dns, 'dns', ['resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt', 'reverse', 'lookupService']],
  [dns.promises, 'dns.promises', ['resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt', 'reverse']],
];

/** Replaces the functions by ones that do the same, and tell the driver when they are called in a world. */
export function routeRefusals(): void {
  for (const [owner, label, names] of work) {
    for (const name of names) watch(owner, `${label}.${name}`, name);
  }
}

/** A call without a callback (crypto.sign) is synchronous, and fine. */
function watch(owner: object, label: string, name: string): void {
  const promised = owner === subtle || owner === dns.promises;
  lay(owner as Record<string, AnyFunction>, name, (real) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      if (present.inside !== undefined && (promised || typeof args[args.length - 1] === 'function')) {
        present.refused.push(label);
      }
      return Reflect.apply(real, this, args);
    };
  });
}
