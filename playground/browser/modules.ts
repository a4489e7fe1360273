/**
 * Node's modules for a browser, as far as the lab and ioredis use them. Their functions are properties of plain objects,
 * and the lab replaces them (lab/node-functions/). The bundler puts each under its name (playground/bundle.ts).
 */
import { createHash } from './hashes.ts';

type NodeFunction = (...args: never[]) => unknown;

/** Functions that exist, and can be replaced. Nothing calls them. */
function absent(module: string, names: readonly string[]): Record<string, NodeFunction> {
  const throwing = (name: string) => (): never => {
    throw new Error(`${module}.${name} does not exist in a browser`);
  };
  return Object.fromEntries(names.map((name) => [name, throwing(name)]));
}

/** A module of which nothing is used. */
function missing(module: string): object {
  return new Proxy(
    {},
    { get: (_, name) => (name === '__esModule' ? undefined : absent(module, [String(name)])[String(name)]) },
  );
}

/** node:crypto. */
export const crypto = {
  ...absent('crypto', ['pbkdf2', 'scrypt', 'hkdf', 'generateKey', 'generateKeyPair', 'generatePrime']),
  ...absent('crypto', ['checkPrime', 'sign', 'verify']),
  createHash,
  randomFillSync<T extends ArrayBufferView>(array: T): T {
    globalThis.crypto.getRandomValues(array as unknown as Uint8Array<ArrayBuffer>);
    return array;
  },
  randomFill: absent('crypto', ['randomFill']).randomFill,
  randomBytes: (size: number): Buffer => crypto.randomFillSync(Buffer.alloc(size)),
  pseudoRandomBytes: (size: number): Buffer => crypto.randomFillSync(Buffer.alloc(size)),
  randomInt(low: number, high?: number): number {
    const [from, to] = high === undefined ? [0, low] : [low, high];
    return from + Math.floor(Math.random() * (to - from));
  },
  randomUUID: (): string => globalThis.crypto.randomUUID(),
};

/** node:timers. */
export const timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };

/** node:timers/promises. Worlds replace them; outside of worlds nothing uses them. */
export const timersPromises = {
  ...absent('timers/promises', ['setTimeout', 'setInterval', 'setImmediate']),
  scheduler: absent('timers/promises', ['wait', 'yield']),
};

/** The class whose methods the lab replaces. No real socket exists. */
class Socket {
  _write(): never {
    throw new Error('there are no real sockets in a browser');
  }

  _writev(): never {
    throw new Error('there are no real sockets in a browser');
  }
}

function isIP(text: string): number {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(text))
    return text.split('.').every((part) => Number(part) < 256) ? 4 : 0;
  return text.includes(':') ? 6 : 0;
}

/** node:net. */
export const net = {
  ...absent('net', ['connect', 'createConnection', 'createServer']),
  Socket,
  isIP,
  isIPv4: (text: string): boolean => isIP(text) === 4,
  isIPv6: (text: string): boolean => isIP(text) === 6,
};

const lookups = ['resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt', 'reverse'];

/** node:dns. */
export const dns = {
  ...absent('dns', ['lookup', 'lookupService', ...lookups]),
  promises: absent('dns.promises', ['lookup', ...lookups]),
};

/** node:zlib. */
export const zlib = absent('zlib', [
  ...['gzip', 'gunzip', 'deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'unzip'],
  ...['brotliCompress', 'brotliDecompress'],
]);

/** node:fs. */
export const fs = { ...absent('fs', ['readFileSync']), promises: absent('fs.promises', ['readFile']) };

export const nodeModule = { syncBuiltinESMExports: (): void => {} };

/** node:util. */
export const util = {
  TextDecoder: globalThis.TextDecoder,
  inspect: (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value)),
  inherits(child: NodeFunction, parent: NodeFunction): void {
    Object.setPrototypeOf(child.prototype, parent.prototype);
  },
  deprecate: <T>(task: T): T => task,
  debuglog: () => (): void => {},
  format: (...parts: unknown[]): string => parts.map(String).join(' '),
};

/** node:assert. */
export const assert = Object.assign(
  (value: unknown, message = 'assertion failed'): void => {
    if (!value) throw new Error(message);
  },
  { strictEqual: Object.is },
);

/** An AsyncLocalStorage that knows the context of synchronous code only. */
class AsyncLocalStorage<T> {
  #store: T | undefined;

  getStore(): T | undefined {
    return this.#store;
  }

  run<R>(store: T, task: () => R): R {
    const before = this.#store;
    this.#store = store;
    try {
      return task();
    } finally {
      this.#store = before;
    }
  }
}

/** Its functions run in no context of their own. */
class AsyncResource {
  runInAsyncScope<R>(task: (...args: unknown[]) => R, self: unknown, ...args: unknown[]): R {
    return Reflect.apply(task, self, args) as R;
  }
}

/** node:async_hooks. */
export const asyncHooks = { AsyncLocalStorage, AsyncResource };

/** node:diagnostics_channel: nobody subscribes. */
export const diagnosticsChannel = {
  channel: (name: string) => ({ name, hasSubscribers: false, publish: (): void => {} }),
};

/** node:tls. */
export const tls = missing('tls');
/** node:os. */
export const os = missing('os');
/** node:path. */
export const path = {
  join: (...parts: string[]): string => parts.join('/'),
  resolve: (...parts: string[]): string => parts.join('/'),
  dirname: (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('/'))),
  basename: (name: string): string => name.slice(name.lastIndexOf('/') + 1),
  sep: '/',
};
/** node:v8. */
export const v8 = missing('v8');
/** node:vm. */
export const vm = missing('vm');
/** node:url. */
export const url = missing('url');
/** node:worker_threads. */
export const workerThreads = missing('worker_threads');
/** node:perf_hooks. */
export const perfHooks = { performance: globalThis.performance };
/** node:child_process. */
export const childProcess = missing('child_process');
/** node:tty. */
export const tty = missing('tty');
/** node:fs/promises. */
export const fsPromises = missing('fs/promises');
