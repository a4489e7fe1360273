/** The chapters of the bench. */
import { cliffs } from './cliffs.ts';
import { crowds } from './crowds.ts';
import { entries } from './entries.ts';
import { footprint } from './footprint.ts';
import { hosting } from './hosting.ts';
import { COMMANDS } from './loads/commands.ts';
import { CONNECTIONS, type Load, SIZES, STRUCTURES, WIRE } from './loads/loads.ts';
import { lua } from './lua.ts';
import { firstTests } from './package/first-test.ts';
import { installing } from './package/install.ts';
import { starting } from './package/starting.ts';
import { platform } from './platform/index.ts';
import type { Chapter } from './report.ts';
import { roundTrips } from './round-trips.ts';
import { type Extent, overTcp } from './tcp.ts';

type Chapters = Record<string, () => Promise<Chapter>>;

/** In a smoke run, these chapters measure one of so many rows. */
const SAMPLES = { cliffs: 20, commands: 5, platform: 8 };

/** Wants the first of each so many rows that are wanted. It may be asked again for a row. */
function oneOf(count: number, wanted: (name: string) => boolean): (name: string) => boolean {
  const seen = new Map<string, number>();
  return (name) => {
    if (!wanted(name)) return false;
    if (!seen.has(name)) seen.set(name, seen.size);
    return seen.get(name)! % count === 0;
  };
}

/** The chapters whose rows can be chosen by name, and which can write profiles of our server. @param smoke as in `allChapters` */
export function detailedChapters(extent: Extent, smoke: boolean): Chapters {
  const measured =
    (title: string, loads: readonly Load[], within = extent) =>
    async (): Promise<Chapter> => ({
      title,
      beside: 'redis-server',
      rows: await overTcp(loads, within),
    });
  const sample = (of: number): Extent => (smoke ? { ...extent, wanted: oneOf(of, extent.wanted) } : extent);
  return {
    wire: measured('Requests per second over TCP (redis-benchmark)', WIRE),
    sizes: measured('Larger values (redis-benchmark)', SIZES),
    connections: measured('Fewer and more connections (redis-benchmark)', CONNECTIONS),
    structures: measured('Sorted sets and streams (redis-benchmark)', STRUCTURES),
    commands: measured(
      'One request of each usual command (redis-benchmark)',
      COMMANDS,
      sample(SAMPLES.commands),
    ),
    platform: async () => ({
      title: 'What Node itself takes',
      beside: 'redis-server',
      rows: await platform(sample(SAMPLES.platform)),
    }),
  };
}

/** All chapters. @param smoke whether to measure only so much that everything runs once */
export function allChapters(extent: Extent, smoke: boolean): Chapters {
  return {
    ...detailedChapters(extent, smoke),
    crowds: async () => ({
      title: 'Many connections',
      beside: 'redis-server',
      rows: await crowds(extent.rounds, extent.scale),
    }),
    trips: async () => ({
      title: 'Sequential round trips through ioredis 6',
      beside: 'the other',
      rows: await roundTrips(smoke ? 1 : 5, smoke ? 20 : 500),
    }),
    lua: async () => ({
      title: 'Scripts that compute',
      beside: 'redis-server',
      rows: await lua(smoke ? 1 : 9),
    }),
    footprint: async () => ({
      title: 'Start and memory',
      beside: 'redis-server',
      rows: await footprint(smoke ? 2 : 9, smoke ? 20_000 : 1_000_000),
    }),
    hosting: async () => ({
      title: 'What a server costs its host',
      beside: 'redis-server',
      rows: await hosting(smoke ? 1 : 5, smoke ? 10 : 100),
    }),
    cliffs: async () => ({
      title: 'Requests on data of every size, CPU time',
      beside: 'redis-server',
      rows: await (smoke
        ? cliffs([1000], oneOf(SAMPLES.cliffs, extent.wanted))
        : cliffs(undefined, extent.wanted)),
    }),
    entries: async () => ({
      title: 'Loading an entry, above a bare node',
      beside: 'the goal',
      rows: entries(smoke ? 1 : 21),
    }),
    package: async () => ({
      title: 'Installing, starting, and the first test: what a user waits for',
      beside: 'the other, or the goal',
      rows: [...(await installing(smoke ? 1 : 5)), ...starting(smoke ? 1 : 15), ...firstTests(smoke ? 1 : 7)],
    }),
    // Last, and loaded only then, because it replaces the timers and clocks that the other chapters use.
    lab: async () => ({
      title: 'Virtual time in the lab, per CPU time',
      beside: 'the goal',
      rows: await (await import('./virtual-clock.ts')).virtualClock(smoke ? 1 : 30, smoke ? 1 : 30),
    }),
  };
}
