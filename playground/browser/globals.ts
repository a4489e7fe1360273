/**
 * What Node has and a browser lacks, as globals: `process`, `Buffer`, and immediates with Node's order of ticks and promise
 * reactions. Must be imported before anything else.
 */
import { Buffer as BrowserBuffer } from 'buffer/';

interface Immediate {
  run: (() => void) | undefined;
}

const channel = new MessageChannel();
const immediates: Immediate[] = [];
const ticks: (() => void)[] = [];
let posted = false;
/** Real time, also when the lab has laid its routes. */
const now = performance.now.bind(performance);
let beat: (() => void) | undefined;
let beaten = now();

/** Calls a function about twice a second, as long as anything goes on. Code that loops without end stops it. */
export function onBeat(task: () => void): void {
  beat = task;
}

/** Asks for a macrotask of our own, if none is under way. */
function post(): void {
  if (posted) return;
  posted = true;
  channel.port2.postMessage(0);
}

/**
 * One macrotask: the ticks that promise reactions left behind, or else one immediate and its ticks. The browser runs all
 * promise reactions after it. So everything that an immediate starts has run before the next one, in the order of Node.
 */
function pump(): void {
  posted = false;
  if (now() - beaten > 500) {
    beaten = now();
    beat?.();
  }
  try {
    if (ticks.length === 0) immediates.shift()?.run?.();
    runTicks();
  } finally {
    if (ticks.length > 0 || immediates.length > 0) post();
  }
}

function runTicks(): void {
  for (let tick = ticks.shift(); tick !== undefined; tick = ticks.shift()) tick();
}

(channel.port1 as unknown as { onmessage: () => void }).onmessage = pump;

function setImmediate(task: (...args: unknown[]) => void, ...args: unknown[]): Immediate {
  const immediate: Immediate = { run: () => task(...args) };
  immediates.push(immediate);
  post();
  return immediate;
}

function clearImmediate(immediate: Immediate | undefined): void {
  if (immediate !== undefined) immediate.run = undefined;
}

function nextTick(task: (...args: unknown[]) => void, ...args: unknown[]): void {
  ticks.push(() => task(...args));
  post();
}

const nothing = (): void => {};
const stream = { write: (): boolean => true, isTTY: false };

/** The parts of Node's `process` that the lab and ioredis touch. */
const browserProcess = {
  nextTick,
  env: {},
  argv: [],
  execArgv: [],
  pid: 1,
  platform: 'browser',
  arch: 'browser',
  version: 'v20.19.0',
  versions: { node: '20.19.0' },
  stdout: stream,
  stderr: stream,
  on: nothing,
  off: nothing,
  once: nothing,
  listeners: (): unknown[] => [],
  removeAllListeners: nothing,
  emitWarning: nothing,
  cwd: (): string => '/',
  getActiveResourcesInfo: (): string[] => [],
  hrtime: Object.assign((): [number, number] => [0, 0], { bigint: (): bigint => 0n }),
};

/** Node's Buffer has these, and the server uses them, because they are fast. */
const latin1 = {
  latin1Slice(this: Uint8Array, from = 0, to = this.length): string {
    const parts: string[] = [];
    // An argument list has a maximum length.
    for (let at = from; at < to; at += 8192)
      parts.push(String.fromCharCode(...this.subarray(at, Math.min(to, at + 8192))));
    return parts.join('');
  },
  latin1Write(this: Uint8Array, text: string, from = 0, length = this.length - from): number {
    const count = Math.min(length, text.length, this.length - from);
    for (let i = 0; i < count; i++) this[from + i] = text.charCodeAt(i);
    return count;
  },
};
const plain = BrowserBuffer.prototype.toString;
Object.assign(BrowserBuffer.prototype, latin1, {
  toString(this: BrowserBuffer, encoding?: string, from?: number, to?: number): string {
    if (encoding !== 'base64url') return plain.call(this, encoding as BufferEncoding, from, to);
    const text = plain.call(this, 'base64', from, to);
    return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  },
});

Object.assign(globalThis, {
  global: globalThis,
  process: browserProcess,
  Buffer: BrowserBuffer,
  setImmediate,
  clearImmediate,
});
