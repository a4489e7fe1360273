/**
 * Measures what the platform itself costs, beside redis-server and lostlock. No server on Node can be faster than the one that
 * counts bytes. The others show what the plainest code takes that does a part of the work.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Contestant, launch, startOurs, startReal, stop } from '../contestants.ts';
import { type Load, WIRE } from '../loads/loads.ts';
import type { Row } from '../report.ts';
import { type Extent, type Measured, measure, requestsOf, rowsOf } from '../tcp.ts';

const SET = ['SET', 'key:__rand_int__', 'xxx'];
const SET_4_KIB = [...SET.slice(0, 2), 'x'.repeat(4096)];
const SET_32_KIB = [...SET.slice(0, 2), 'x'.repeat(32_768)];
const GET = ['GET', 'key:__rand_int__'];
const SET_NX = ['SET', 'lock:__rand_int__', 'token-of-twenty-byte', 'NX', 'PX', '30000'];
const ZADD = ['ZADD', 'z', '__rand_int__', 'm:__rand_int__'];
const ZRANK = ['ZRANK', 'z', 'm:__rand_int__'];
const ZRANGE = ['ZRANGEBYSCORE', 'z', '__rand_int__', '+inf', 'LIMIT', '0', '10'];

/** The bare servers, by the argument that starts them. */
const BARE = {
  count: 'a server that counts bytes',
  values: 'a server with a Map',
  entries: 'a server with a Map of what Redis knows of a key',
  sorted: 'a server with a Map and a B+ tree',
  locking: 'a server with the locks in JavaScript',
};
type Bare = keyof typeof BARE;

const MAP: readonly Bare[] = ['count', 'values'];
const MAPS: readonly Bare[] = ['count', 'values', 'entries'];

/** A request that bare servers understand. */
interface BareLoad {
  readonly name: string;
  readonly words: readonly string[];
  /** How many keys or members it chooses from. */
  readonly keys: number;
  /** Lengths of pipelines. */
  readonly depths: readonly number[];
  readonly bare: readonly Bare[];
  /** How many of the usual number of requests are sent; default 1. */
  readonly scale?: number;
  /** The request that creates the data or loads the script, if any is needed. */
  readonly before?: readonly string[];
}

const strings = (name: string, keys: number, depths: readonly number[]): BareLoad[] => [
  { name: `SET${name}`, keys, depths, words: SET, bare: MAPS },
  { name: `GET${name}`, keys, depths, words: GET, bare: MAPS, before: SET },
  { name: `SET NX PX${name}`, keys, depths, words: SET_NX, bare: MAP },
];

const values = (name: string, scale: number, before: readonly string[]): BareLoad[] => [
  { name: `SET of ${name}`, keys: 100, depths: [1, 16], scale, words: before, bare: MAPS },
  { name: `GET of ${name}`, keys: 100, depths: [1, 16], scale, words: GET, bare: MAPS, before },
];

const members = (keys: number): Omit<BareLoad, 'name' | 'words'> => ({
  keys,
  depths: [16],
  scale: 0.3,
  bare: ['sorted'],
  before: ZADD,
});

/** The load of a lock's script, sent one request at a time. */
function script({ name, keys, words }: Load): BareLoad {
  let text = '';
  const request = words((source) => {
    text = source;
    return createHash('sha1').update(source).digest('hex');
  });
  return {
    ...{ name, keys, depths: [1], words: request },
    bare: ['count', 'locking'],
    before: ['SCRIPT', 'LOAD', text],
  };
}

/** At most how many requests create the data: of a million keys, these leave out one in twenty. */
const MOST_TO_CREATE = 3_000_000;

const LOADS: readonly BareLoad[] = [
  ...strings('', 1000, [1, 16, 100]),
  ...strings(' over 100000 keys', 100_000, [16, 100]),
  ...values('4 KiB', 0.3, SET_4_KIB),
  ...values('32 KiB', 0.1, SET_32_KIB),
  ...WIRE.filter(({ name, keys }) => name.startsWith('EVALSHA') && keys === 1000).map(script),
  { ...members(1000), name: 'ZADD over 1000 members', words: ZADD },
  { ...members(1_000_000), name: 'ZADD over 1000000 members', words: ZADD },
  { ...members(1000), name: 'ZRANK over 1000 members', words: ZRANK },
  { ...members(1000), name: 'ZRANGEBYSCORE over 1000 members', words: ZRANGE },
];

/** The length of a request as redis-benchmark sends it, in bytes. */
function lengthOf(words: readonly string[]): number {
  const lengths = words.map((word) => word.replace('__rand_int__', '0'.repeat(12)).length);
  return lengths.reduce((sum, each) => sum + `$${each}\r\n\r\n`.length + each, `*${words.length}\r\n`.length);
}

/** Starts a bare server. @param kind the argument that says what it does */
export async function startBare(kind: string, ...words: string[]): Promise<Contestant> {
  const file = join(import.meta.dirname, 'bare-server.ts');
  return await launch(kind, process.execPath, (port) => [...process.execArgv, file, port, kind, ...words]);
}

/** What each of several servers takes. They take turns. */
async function compare(
  starts: readonly (() => Promise<Contestant>)[],
  load: BareLoad,
  depth: number,
  rounds: number,
  scale: number,
): Promise<Measured[][]> {
  const contestants = await Promise.all(starts.map((start) => start()));
  const figures: Measured[][] = contestants.map(() => []);
  try {
    const creating = Math.ceil(scale * Math.min(10 * load.keys, MOST_TO_CREATE));
    const requests = requestsOf(depth, scale * (load.scale ?? 1));
    if (load.before !== undefined)
      for (const each of contestants) await measure(each, load, load.before, 100, creating);
    for (let round = 0; round <= rounds; round++) {
      for (const [i, contestant] of contestants.entries()) {
        const measured = await measure(contestant, load, load.words, depth, requests, round);
        if (round > 0) figures[i]?.push(measured);
      }
    }
  } finally {
    await Promise.all(contestants.map(stop));
  }
  return figures;
}

/** The rows of this chapter. */
export async function platform({ rounds, scale, wanted, profile }: Extent): Promise<Row[]> {
  const rows: Row[] = [];
  for (const load of LOADS) {
    const { words } = load;
    for (const depth of load.depths) {
      const nameOf = (server: string): string => `${load.name}, pipeline ${depth}: ${server}`;
      const bare = load.bare.filter((kind) => wanted(nameOf(BARE[kind])));
      if (bare.length === 0 && !wanted(nameOf('lostlock'))) continue;
      const starts = [
        () => startReal(),
        ...bare.map((kind) => () => startBare(kind, String(lengthOf(words)))),
        () => startOurs(profile),
      ];
      const [real = [], ...others] = await compare(starts, load, depth, rounds, scale);
      for (const [i, name] of [...bare.map((kind) => BARE[kind]), 'lostlock'].entries())
        rows.push(...rowsOf(nameOf(name), depth, others[i] ?? [], real));
    }
  }
  return rows;
}
