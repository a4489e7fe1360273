/**
 * The functions of Bun and Deno that work in real time. Node lists the work that is under way; Bun and Deno list only a part of it. So
 * a world refuses these functions by name. Bun's sleep, clock and random ids are virtual.
 */
import { isNode } from '../../start/running/runtime.ts';
import { type Inside, present } from '../time/current-world.ts';
import { refuse, refuseNew } from './refusals.ts';
import { type AnyFunction, replaceMethod } from './replace.ts';

/** Functions of an object. What a runtime lacks is left out. */
type Refused = readonly [owner: object | undefined, label: string, names: readonly string[]];

const files = [
  ...['access', 'appendFile', 'copyFile', 'cp', 'createReadStream', 'createWriteStream', 'exists', 'lstat'],
  ...['mkdir', 'mkdtemp', 'open', 'opendir', 'readFile', 'readdir', 'readlink', 'realpath', 'rename', 'rm'],
  ...['rmdir', 'stat', 'truncate', 'unlink', 'utimes', 'watch', 'writeFile'],
];

/** Modules whose work Node lists by itself, so that only the other runtimes refuse them. On Node they are not loaded here. */
function modulesOfNode(): Refused[] {
  const { getBuiltinModule: load } = process;
  const [fs, net] = [load('node:fs'), load('node:net')];
  return [
    [fs, 'fs', files],
    [fs.promises, 'fs.promises', files],
    // The sockets of a world are of another class.
    [net.Socket.prototype, 'net.Socket', ['connect']],
    [net.Server.prototype, 'net.Server', ['listen']],
    [load('node:tls'), 'tls', ['connect']],
    [load('node:http'), 'http', ['request', 'get']],
    [load('node:https'), 'https', ['request', 'get']],
    [load('node:http2'), 'http2', ['connect']],
    [load('node:dgram'), 'dgram', ['createSocket']],
    [load('node:child_process'), 'child_process', ['spawn', 'exec', 'execFile', 'fork']],
  ];
}

interface BunGlobal {
  readonly RedisClient?: { readonly prototype: Record<string, unknown> };
  readonly dns?: object;
  readonly password?: object;
}

/** Replaces what can be virtual, and refuses the rest. On Node there is nothing to do. */
export function replaceOtherRuntimes(): void {
  if (isNode) return;
  for (const [owner, label, names] of modulesOfNode()) refuseAll(owner, label, names);
  refuse(globalThis, 'fetch', 'fetch');
  for (const name of ['WebSocket', 'Worker', 'EventSource']) refuseNew(globalThis, name, name);
  const { Bun: bun, Deno: deno } = globalThis as { Bun?: BunGlobal; Deno?: object };
  if (bun !== undefined) replaceBun(bun);
  if (deno !== undefined) replaceDeno(deno);
}

function replaceBun(bun: BunGlobal): void {
  virtual(bun, 'sleep', (inside, [until]) => {
    const ms = until instanceof Date ? until.getTime() - inside.wallClock() : Number(until);
    return new Promise<void>((wake) => void inside.setTimeout(wake, ms, [], false));
  });
  virtual(bun, 'sleepSync', (inside, [ms]) => inside.block(Number(ms)));
  virtual(bun, 'nanoseconds', (inside) => inside.elapsed() * 1000);
  virtual(bun, 'randomUUIDv7', (inside, [encoding, at]) =>
    timedUUID(inside, encoding, Number(at ?? inside.wallClock())),
  );
  // Also clients that were imported before this ran are refused: they share the prototype.
  const { prototype = {} } = bun.RedisClient ?? {};
  const methods = Object.getOwnPropertyNames(prototype).filter(
    (name) => !['constructor', 'close'].includes(name) && isMethod(prototype, name),
  );
  const instead =
    'its sockets and timers are in native code, which nothing can replace. Use the redis of the world, ioredis or node-redis';
  for (const name of methods) refuse(prototype, 'Bun.RedisClient', name, instead);
  const begins = [
    '$',
    'build',
    'connect',
    'file',
    'listen',
    'serve',
    'spawn',
    'spawnSync',
    'udpSocket',
    'write',
  ];
  refuseAll(bun, 'Bun', [...begins, 'zstdCompress', 'zstdDecompress']);
  refuseAll(bun.dns, 'Bun.dns', ['lookup']);
  refuseAll(bun.password, 'Bun.password', ['hash', 'verify']);
  refuseAll(globalThis.Blob.prototype, 'Bun.file', ['exists', 'stat', 'unlink', 'delete', 'write', 'writer']);
  refuseNew(bun, 'SQL', 'Bun.SQL');
}

function isMethod(owner: object, name: string): boolean {
  return typeof Object.getOwnPropertyDescriptor(owner, name)?.value === 'function';
}

function replaceDeno(deno: object): void {
  const network = ['connect', 'connectTls', 'listen', 'listenTls', 'listenDatagram', 'serve', 'startTls'];
  const disk = [
    ...['chmod', 'copyFile', 'create', 'link', 'lstat', 'makeTempDir', 'makeTempFile', 'mkdir', 'open'],
    ...['readDir', 'readFile', 'readLink', 'readTextFile', 'realPath', 'remove', 'rename', 'stat', 'symlink'],
    ...['truncate', 'utime', 'watchFs', 'writeFile', 'writeTextFile'],
  ];
  refuseAll(deno, 'Deno', [...network, ...disk, 'openKv', 'resolveDns']);
  refuseNew(deno, 'Command', 'Deno.Command');
  // The process of a world ends, and not that of the machine.
  virtual(deno, 'exit', (_inside, [code]) => process.exit(code as number | undefined));
  virtual(deno, 'hostname', (inside) => inside.hostname);
}

function refuseAll(owner: object | undefined, label: string, names: readonly string[]): void {
  if (owner === undefined) return;
  for (const name of names) refuse(owner, `${label}.${name}`, name);
}

/** Replaces a function for the code of worlds. */
function virtual(
  owner: object,
  name: string,
  inWorld: (inside: Inside, args: readonly unknown[]) => unknown,
): void {
  if (typeof Reflect.get(owner, name) !== 'function') return;
  replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      const { inside } = present;
      return inside === undefined ? Reflect.apply(real, this, args) : inWorld(inside, args);
    };
  });
}

/** A UUID of version 7: its time in milliseconds, and random bits. */
function timedUUID(inside: Inside, encoding: unknown, at: number): string | Buffer {
  const bytes = Buffer.alloc(16);
  inside.fill(bytes);
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  if (encoding === 'buffer') return bytes;
  if (encoding === 'base64' || encoding === 'base64url') return bytes.toString(encoding);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
