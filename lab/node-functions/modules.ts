/** Stand-ins for node:crypto's randomness, node:net's connections, name look-ups, and reads of whole files. */
import crypto from 'node:crypto';
import dns from 'node:dns';
import fs from 'node:fs';
import net from 'node:net';
import { type Inside, present } from '../time/current-world.ts';
import { type AnyFunction, replaceMethod } from './replace.ts';

type Done = (error: Error | null, value?: unknown) => void;

/** Replaces the functions. */
export function replaceModules(): void {
  const table: [object, string, (inside: Inside, args: readonly unknown[]) => unknown][] = [
    [crypto, 'randomBytes', randomBytes],
    [crypto, 'pseudoRandomBytes', randomBytes],
    [crypto, 'randomFillSync', (inside, [array, from, size]) => randomFill(inside, array, from, size)],
    [crypto, 'randomFill', randomFillLater],
    [crypto, 'randomInt', randomInt],
    [crypto, 'randomUUID', randomUUID],
    [globalThis.crypto, 'getRandomValues', (inside, [array]) => randomFill(inside, array)],
    [globalThis.crypto, 'randomUUID', randomUUID],
    [net, 'connect', dial],
    [net, 'createConnection', dial],
    [dns, 'lookup', lookUp],
    [dns.promises, 'lookup', async (inside, [host, options]) => addresses(inside, host, options)],
    [fs.promises, 'readFile', async (_inside, [path, options]) => readNow(path, options)],
  ];
  for (const [owner, name, inWorld] of table) {
    replaceMethod(owner as Record<string, AnyFunction>, name, (real) => {
      return function (this: unknown, ...args: unknown[]): unknown {
        const { inside } = present;
        return inside === undefined ? Reflect.apply(real, this, args) : inWorld(inside, args);
      };
    });
  }
}

function randomBytes(inside: Inside, [size, done]: readonly unknown[]): Buffer | undefined {
  const bytes = Buffer.alloc(Number(size));
  inside.fill(bytes);
  return answer(inside, bytes, done);
}

/** Passes the value to the callback at a later moment, as Node does, or returns it when there is no callback. */
function answer<T>(inside: Inside, value: T, done: unknown): T | undefined {
  if (typeof done !== 'function') return value;
  inside.setImmediate(() => (done as Done)(null, value), []);
  return undefined;
}

/** As in Node, offset and size count elements. */
function randomFill(inside: Inside, array: unknown, from: unknown = 0, size?: unknown): unknown {
  const view = array as ArrayBufferView & { BYTES_PER_ELEMENT?: number };
  const buffer = ArrayBuffer.isView(view) ? view.buffer : (array as ArrayBuffer);
  const unit = view.BYTES_PER_ELEMENT ?? 1;
  const start = (view.byteOffset ?? 0) + Number(from) * unit;
  const rest = view.byteLength - Number(from) * unit;
  inside.fill(new Uint8Array(buffer, start, size === undefined ? rest : Number(size) * unit));
  return array;
}

function randomFillLater(inside: Inside, args: readonly unknown[]): void {
  const done = args[args.length - 1];
  const [array, from, size] = args.slice(0, -1);
  answer(inside, randomFill(inside, array, from, size), done);
}

function randomInt(inside: Inside, args: readonly unknown[]): number | undefined {
  const done = args[args.length - 1];
  const [first, second] = args.filter((arg) => typeof arg === 'number');
  const [low, high] = second === undefined ? [0, first as number] : [first as number, second];
  if (!(high > low)) throw new RangeError(`The value of "max" is out of range: ${high} is not above ${low}`);
  return answer(inside, low + Math.floor(inside.random() * (high - low)), done);
}

function randomUUID(inside: Inside): string {
  const bytes = Buffer.alloc(16);
  inside.fill(bytes);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [0, 8, 12, 16, 20].map((at, i) => hex.slice(at, [8, 12, 16, 20, 32][i])).join('-');
}

/** Handles every form of net.connect. Unix sockets do not exist in a world. */
function dial(inside: Inside, args: readonly unknown[]): unknown {
  const [first, second] = args;
  const options = typeof first === 'object' && first !== null ? (first as net.TcpNetConnectOpts) : undefined;
  const host = options === undefined ? (typeof second === 'string' ? second : undefined) : options.host;
  const port = options === undefined ? first : options.port;
  const socket = inside.dial(host ?? 'localhost', Number(port));
  const connected = args[args.length - 1];
  if (typeof connected === 'function') socket.once('connect', connected as () => void);
  return socket;
}

function lookUp(inside: Inside, args: readonly unknown[]): void {
  const done = args[args.length - 1] as (...reply: unknown[]) => void;
  const found = addresses(inside, args[0], args.length > 2 ? args[1] : undefined);
  const reply = Array.isArray(found) ? [null, found] : [null, found.address, found.family];
  inside.setImmediate(() => done(...reply), []);
}

function addresses(inside: Inside, host: unknown, options: unknown): dns.LookupAddress | dns.LookupAddress[] {
  const found = inside.resolve(String(host));
  return (options as dns.LookupOptions | undefined)?.all === true ? [found] : found;
}

/**
 * Reads a file at once for a library that reads its own files (ioredis 5 reads its package.json on the first connect).
 * The content is constant; only the time that a real read takes would differ between runs.
 */
function readNow(path: unknown, options: unknown): unknown {
  if (typeof path === 'object' && path !== null && 'readFile' in path) {
    throw new Error('an open file cannot be read inside a world: read it before');
  }
  return fs.readFileSync(path as string, options as BufferEncoding);
}
