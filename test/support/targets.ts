/** The targets that conversations are compared on: our server on a clock that the test moves, and the real redis-server. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { encodeRequest } from '../../protocol/encode.ts';
import type { Host, Timer } from '../../server/host/host.ts';
import { connectInMemory } from '../../server/host/in-memory.ts';
import { createNode } from '../../server/index.ts';
import { parameters } from '../../server/settings/settings.ts';
import type { GoldenTarget } from '../transcripts/golden.ts';
import { type RealRedis, startRedisServer } from './redis-server.ts';
import { until } from './until.ts';

/** A host whose clock stands still until it is moved, and whose randomness comes from a seed. */
export class TestHost implements Host {
  #now: number;
  #random: number;
  readonly #timers = new Set<{ at: number; task: () => void }>();

  constructor(now = 1_700_000_000_000, seed = 1) {
    this.#now = now;
    this.#random = seed;
  }

  readonly clock = {
    now: () => this.#now,
    micros: () => this.#now * 1000,
    at: (at: number, task: () => void): Timer => {
      const timer = { at, task };
      this.#timers.add(timer);
      return { cancel: () => this.#timers.delete(timer) };
    },
    soon: (task: () => void): Timer => this.clock.at(this.#now, task),
  };

  readonly disk = {
    read: () => undefined,
    write: () => {},
    append: () => {},
    sync: () => {},
    remove: () => {},
  };

  /** A linear congruential generator: the same numbers every time. */
  random(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    return this.#random / 2 ** 31;
  }

  connect(): void {
    throw new Error('a test host has no server to connect to');
  }

  /** Moves the clock and runs the timers that become due. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) this.#ring(next);
    this.#now = end;
  }

  /** Moves the clock to the next timer and runs it; false when there is none. */
  step(): boolean {
    const next = this.#next();
    if (next !== undefined) this.#ring(next);
    return next !== undefined;
  }

  /** When the next timer fires; undefined when none is set. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  #next(): { at: number; task: () => void } | undefined {
    let first: { at: number; task: () => void } | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  }

  #ring(timer: { at: number; task: () => void }): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.task();
  }
}

/** Our server, in memory, on a clock of its own; every reset makes a new one. */
export class LocalTarget implements GoldenTarget {
  host = new TestHost();
  server = createNode(this.host);

  connect(): Duplex {
    return connectInMemory(this.server.connections);
  }

  async pass(ms: number): Promise<void> {
    this.host.advance(ms);
  }

  async passUntil(condition: () => boolean): Promise<void> {
    const what = 'the awaited reply';
    await until(() => condition() || (this.host.step() && condition()), { what });
  }

  async configure(name: string, value: string): Promise<void> {
    const known = parameters as Record<string, { read(text: string): unknown }>;
    Object.assign(this.server.settings, { [name]: known[name]?.read(value) });
    this.server.applySettings();
  }

  async reset(): Promise<void> {
    this.server.stop();
    this.host = new TestHost();
    this.server = createNode(this.host);
  }
}

/** The real redis-server; a reset empties it and undoes configuration changes. */
export class RealTarget implements GoldenTarget {
  readonly redis: RealRedis;
  readonly #admin: Duplex;
  readonly #undo = new Map<string, string>();
  #reply = '';

  constructor(redis: RealRedis) {
    this.redis = redis;
    // Made before any password is set, it stays trusted.
    this.#admin = this.connect();
    this.#admin.on('data', (chunk: Buffer) => {
      this.#reply += chunk.toString('latin1');
    });
  }

  static async start(): Promise<RealTarget> {
    return new RealTarget(await startRedisServer({ args: ['--enable-debug-command', 'yes'] }));
  }

  async stop(): Promise<void> {
    this.#admin.destroy();
    await this.redis.stop();
  }

  connect(): Duplex {
    return connect(this.redis.path);
  }

  async pass(ms: number): Promise<void> {
    await wait(ms);
  }

  async passUntil(condition: () => boolean): Promise<void> {
    await until(condition, { what: 'the awaited reply' });
  }

  async configure(name: string, value: string): Promise<void> {
    const [, before = ''] = /\r\n\$\d+\r\n([^\r]*)\r\n$/.exec(await this.#ask('CONFIG', 'GET', name)) ?? [];
    if (!this.#undo.has(name)) this.#undo.set(name, before);
    await this.#ask('CONFIG', 'SET', name, value);
  }

  async reset(): Promise<void> {
    for (const [name, value] of this.#undo) await this.#ask('CONFIG', 'SET', name, value);
    this.#undo.clear();
    await this.#ask('FLUSHALL');
    await this.#ask('SCRIPT', 'FLUSH');
  }

  async #ask(...words: string[]): Promise<string> {
    this.#reply = '';
    this.#admin.write(encodeRequest(words), 'latin1');
    await until(() => this.#reply.endsWith('\r\n'), { what: `the reply to ${words.join(' ')}` });
    if (this.#reply.startsWith('-')) throw new Error(this.#reply);
    return this.#reply;
  }
}
