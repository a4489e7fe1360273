/** Compares what two servers hold after a program: keys, types, encodings, deadlines and contents. */
import type { Bytes } from '../../../protocol/bytes.ts';
import { type RawReply, readReply } from '../../support/reply-text.ts';
import type { Side } from '../sides.ts';
import type { Difference } from './difference.ts';
import { streamInfo } from './known.ts';
import { same } from './normalise.ts';

const DATABASES = [0, 1, 2, 15];

/** How a type's content is read. */
const CONTENT: Record<string, (key: Bytes) => Bytes[]> = {
  string: (key) => ['GET', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  hash: (key) => ['HGETALL', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XINFO', 'STREAM', key, 'FULL', 'COUNT', '0'],
};

/** Encodings whose elements have an order: it must be the same. */
const ORDERED = /intset|listpack|quicklist|skiplist|stream/;

const text = (reply: RawReply): Bytes => (typeof reply[1] === 'string' ? reply[1] : '');

async function keysOf(side: Side, db: number): Promise<string[]> {
  const [, keys = ''] = await side.ask([
    ['SELECT', String(db)],
    ['KEYS', '*'],
  ]);
  const [, list] = readReply(keys);
  return Array.isArray(list) ? (list as RawReply[]).map(text).sort() : [];
}

/** The first difference of the data; the deadlines may differ by the time between the servers. */
export async function compareData(step: number, ours: Side, real: Side): Promise<Difference | undefined> {
  for (const db of DATABASES) {
    const [mine, theirs] = [await keysOf(ours, db), await keysOf(real, db)];
    const where = `data of database ${db}`;
    if (JSON.stringify(mine) !== JSON.stringify(theirs)) {
      return { step, where, mine: JSON.stringify(mine), theirs: JSON.stringify(theirs) };
    }
    if (mine.length === 0) continue;
    const difference = await compareKeys(mine, ours, real);
    if (difference !== undefined) return { step, where, ...difference };
  }
  return undefined;
}

/**
 * A list that has shrunk to half of what a listpack may have: Redis keeps it a quicklist while it has two nodes, which
 * depends on how it came about.
 */
async function maySpreadOverNodes(key: Bytes, real: Side): Promise<boolean> {
  const [length = '', limit = ''] = await real.ask([
    ['LLEN', key],
    ['CONFIG', 'GET', 'list-max-listpack-size'],
  ]);
  const [, size] = (readReply(limit)[1] as readonly RawReply[]).map(text);
  return Number(size) > 0 && Number(text(readReply(length))) <= Number(size) / 2;
}

async function compareKeys(keys: readonly Bytes[], ours: Side, real: Side) {
  const about = keys.flatMap((key) => [
    ['TYPE', key],
    ['OBJECT', 'ENCODING', key],
    ['PEXPIRETIME', key],
  ]);
  const [mine, theirs] = [await ours.ask(about), await real.ask(about)];
  for (const [i, asked] of about.entries()) {
    const [a, b] = [mine[i] ?? '', theirs[i] ?? ''];
    if (!same(asked[0] === 'PEXPIRETIME' ? 'near' : 'exact', readReply(a), readReply(b))) {
      const shrunk = text(readReply(a)) === 'listpack' && text(readReply(b)) === 'quicklist';
      if (shrunk && (await maySpreadOverNodes(asked.at(-1) ?? '', real))) continue;
      return { mine: `${asked.join(' ')}: ${a}`, theirs: `${asked.join(' ')}: ${b}` };
    }
  }
  const contents = keys.map((key, i) => CONTENT[theirs[3 * i]!.slice(1, -2)]?.(key) ?? ['TYPE', key]);
  const [one, other] = [await ours.ask(contents), await real.ask(contents)];
  for (const [i, asked] of contents.entries()) {
    const [a, b] = [one[i] ?? '', other[i] ?? ''];
    const ordered = ORDERED.test(theirs[3 * i + 1] ?? '') || asked[0] === 'GET';
    const rule =
      asked[0] === 'XINFO' ? streamInfo : ordered ? 'exact' : asked[0] === 'HGETALL' ? 'pairs' : 'unordered';
    if (!same(rule, readReply(a), readReply(b))) {
      return { mine: `${asked.join(' ')}: ${a}`, theirs: `${asked.join(' ')}: ${b}` };
    }
  }
  return undefined;
}
