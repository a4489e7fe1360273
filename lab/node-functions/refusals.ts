/** Detects when code in a world uses Node's thread pool or name servers, whose work virtual time cannot finish. */
import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dns from 'node:dns';
import fs from 'node:fs';
import workerThreads from 'node:worker_threads';
import zlib from 'node:zlib';
import { isNode } from '../../start/running/runtime.ts';
import { noteStart } from '../time/culprits.ts';
import { present } from '../time/current-world.ts';
import { type AnyFunction, replaceMethod } from './replace.ts';

// The global object of Jest's jsdom has no such functions.
const subtle = globalThis.crypto.subtle ?? crypto.webcrypto.subtle;

/** Work that Node does not list among its active resources, unlike files and sockets. */
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

/** Work of another thread or process, which ends in real time: it is not even begun. */
const elsewhere: readonly [owner: object, label: string, names: readonly string[]][] = [
  [childProcess, 'child_process', ['spawnSync', 'execSync', 'execFileSync']],
  [Atomics, 'Atomics', ['waitAsync']],
];

/** Wraps the functions. The driver hears of a call from within a world. */
export function replaceByRefusals(): void {
  for (const [owner, label, names] of work) {
    for (const name of names) watch(owner, `${label}.${name}`, name);
  }
  for (const [owner, label, names] of elsewhere) {
    for (const name of names) refuse(owner, `${label}.${name}`, name);
  }
  refuseNew(workerThreads, 'Worker', 'worker_threads.Worker');
  for (const name of Object.keys(fs)) if (`${name}Sync` in fs) note(fs, 'fs', name);
  for (const name of ['createReadStream', 'createWriteStream']) note(fs, 'fs', name);
  for (const name of Object.keys(fs.promises ?? {})) note(fs.promises, 'fs', name);
  note(childProcess.ChildProcess?.prototype, 'child_process', 'spawn');
  replaceWait();
}

/** A wait that blocks the thread, which is how people sleep in synchronous code: it keeps the process busy. */
function replaceWait(): void {
  replaceMethod(Atomics as unknown as Record<string, AnyFunction>, 'wait', (real) => {
    return function wait(...args: unknown[]): unknown {
      const { inside } = present;
      const [cells, index, value, timeout = Infinity] = args as [Int32Array, number, number, number?];
      if (inside === undefined) return real(...args);
      if (Atomics.load(cells, index) !== value) return 'not-equal';
      if (!Number.isFinite(timeout)) throw refused('Atomics.wait without a limit in time', wait);
      inside.block(Math.max(0, timeout));
      return 'timed-out';
    };
  });
}

/**
 * Refuses one function in a world. What a runtime lacks is left out.
 * @param why why it cannot be virtual, if there is more to say than that it works in real time
 */
export function refuse(owner: object, label: string, name: string, why?: string): void {
  if (typeof Reflect.get(owner, name) !== 'function') return;
  replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
    return function standIn(this: unknown, ...args: unknown[]): unknown {
      if (present.inside !== undefined) throw refused(label, standIn, why);
      return Reflect.apply(real, this, args);
    };
  });
}

/** The driver hears of it as well, because the code may catch the error. */
function refused(label: string, called: (...args: never[]) => unknown, why?: string): Error {
  noteStart(label, called);
  present.refused.push(why === undefined ? label : `${label} (${why})`);
  return new Error(
    `${label} works in real time, which a world does not have${why === undefined ? '' : `: ${why}`}`,
  );
}

/** Refuses to make one object of a class in a world, such as a worker thread: nothing in a world can wait for what it does. */
export function refuseNew(owner: object, name: string, label: string): void {
  const known = Reflect.get(owner, name);
  if (typeof known !== 'function' || known.prototype === undefined) return;
  replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
    function Refused(this: unknown, ...args: unknown[]): unknown {
      if (present.inside !== undefined) throw refused(label, Refused);
      return Reflect.construct(real, args, new.target ?? real);
    }
    Refused.prototype = (real as unknown as { readonly prototype: unknown }).prototype;
    return Refused;
  });
}

/**
 * Wraps a function of which Node lists what it starts: remembers who calls it from within a world. Other runtimes refuse the function
 * (other-runtimes.ts).
 */
export function note(owner: object | undefined, kind: string, name: string): void {
  if (
    !isNode ||
    owner === undefined ||
    Object.isFrozen(owner) ||
    typeof Reflect.get(owner, name) !== 'function'
  )
    return;
  replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
    return function standIn(this: unknown, ...args: unknown[]): unknown {
      if (present.inside !== undefined) noteStart(kind, standIn);
      return Reflect.apply(real, this, args);
    };
  });
}

/**
 * Wraps one function. A call without a callback, such as crypto.sign, is synchronous and allowed. Calls to a frozen module,
 * such as Deno's zlib, cannot be seen.
 */
function watch(owner: object, label: string, name: string): void {
  if (Object.isFrozen(owner)) return;
  const promised = owner === subtle || owner === dns.promises;
  replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
    return function standIn(this: unknown, ...args: unknown[]): unknown {
      if (present.inside !== undefined && (promised || typeof args[args.length - 1] === 'function')) {
        noteStart(label, standIn);
        present.refused.push(label);
      }
      return Reflect.apply(real, this, args);
    };
  });
}
