/** Lock libraries that ship without usable types, with as much of them as the tests use. Load the router before. */
import { createRequire } from 'node:module';

interface Options {
  readonly driftFactor?: number;
  readonly retryCount?: number;
  readonly retryDelay?: number;
  readonly retryJitter?: number;
  readonly automaticExtensionThreshold?: number;
}

interface Emitter {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** redlock 4. */
export interface Redlock4 extends Emitter {
  lock(resource: string, ttl: number): PromiseLike<Lock4>;
}

export interface Lock4 {
  readonly value: string;
  readonly expiration: number;
  extend(ttl: number): PromiseLike<Lock4>;
  unlock(): Promise<void>;
}

/** redlock 5. */
export interface Redlock5 extends Emitter {
  acquire(resources: string[], duration: number): Promise<Lock5>;
  using<T>(resources: string[], duration: number, routine: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export interface Lock5 {
  readonly value: string;
  readonly expiration: number;
  extend(duration: number): Promise<Lock5>;
  release(): Promise<unknown>;
}

const require = createRequire(import.meta.url);

export const Redlock4 = require('redlock4') as new (clients: unknown[], options?: Options) => Redlock4;

export const Redlock5 = (
  require('redlock') as { default: new (clients: unknown[], options?: Options) => Redlock5 }
).default;
