/** Real servers on the stage of the scenarios: a pair of processes that the plays use like a pair on the virtual clock. */
import { appendFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { type Pair, startPair } from '../../../lab/pair.ts';
import type { RealServerPair } from '../../../lab/real-servers/pair.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { oracleOf } from '../../support/oracles.ts';

/** The program that the scenarios are played on; undefined for lostlock nodes on the virtual clock. */
export const ON_REAL = process.env.LOSTLOCK_SCENES_ON;

/** The file that takes the outcomes, a line of JSON each. */
const OUTCOMES = process.env.LOSTLOCK_OUTCOMES;

/** What the scenarios of Redis 8 are played on: the other program is redis-server 7.0. */
const REDIS_8 = 'redis-8.2';

/** The program for a scenario, and its name where it is not the program for all. */
export function programFor(title: string): { readonly program: string; readonly on?: string } {
  const newer = / of Redis 8 /.test(title) ? oracleOf(REDIS_8) : undefined;
  return newer === undefined ? { program: ON_REAL ?? 'redis-server' } : { program: newer, on: REDIS_8 };
}

/** Why a scenario cannot be played on real servers; undefined if it can. */
export function reasonAgainst(title: string, options: object): string | undefined {
  if ('quorum' in options) return 'quorum mode is ours';
  if ('scripts' in options) return 'the time that a script takes is virtual';
  if ('sentinels' in options) return 'Sentinels of ours have their own tests with real nodes';
  if (title.startsWith('S37'))
    return 'needs a power failure: a killed process loses nothing that the kernel has';
  if (title.startsWith('S49')) return 'needs a clock that can jump';
  if (/ of Redis 8 /.test(title) && oracleOf(REDIS_8) === undefined) return `needs ${REDIS_8}`;
  return undefined;
}

/** Notes an outcome for the table. */
export function recordOutcome(
  title: string,
  form: 'safe' | 'unsafe' | 'not played',
  plays: number,
  fired: number,
  violated: number,
  reason?: string,
): void {
  if (OUTCOMES === undefined) return;
  const on = ON_REAL === undefined ? undefined : programFor(title).on;
  appendFileSync(OUTCOMES, `${JSON.stringify({ title, form, plays, fired, violated, reason, on })}\n`);
}

/** The pair behind each world that stands for real time. */
const pairs = new WeakMap<object, RealServerPair>();

function sleep(ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ms));
}

/** Starts real servers in the shape of a pair on the virtual clock. */
export async function startRealScene(program: string, options: object): Promise<Pair & AsyncDisposable> {
  const { dialect: _, ...rest } = options as { dialect?: string };
  const pair = await startPair({ clock: 'real', nodes: program, ...rest });
  const begun = performance.now();
  const world = {
    network: pair.network,
    advance: sleep,
    elapsed: () => (performance.now() - begun) * 1000,
    get now() {
      return Date.now();
    },
  };
  pairs.set(world, pair);
  return Object.assign(pair, { world }) as unknown as Pair & AsyncDisposable;
}

/** A connected client that stays with a real node; undefined if the world is virtual. */
export function realClientOf(world: World, node: LabNode, name: string): Promise<Redis> | undefined {
  const pair = pairs.get(world);
  if (pair === undefined) return undefined;
  const redis = pair.client(name, {}, node.name) as Redis;
  return Promise.resolve(redis);
}

/** The reply of a real node; undefined if the node is one of ours. */
export function askReal(node: LabNode, ...words: string[]): Promise<unknown> | undefined {
  if (!('mirror' in node)) return undefined;
  return (node as { ask(...words: string[]): Promise<unknown> }).ask(...words);
}

/** How often the lab itself has asked a real node for its stream. */
export function fetchesOf(node: LabNode): number {
  return (node as object as { fetches?: number }).fetches ?? 0;
}
