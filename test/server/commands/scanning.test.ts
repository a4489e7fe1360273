/** Scans by cursor: every item that stays is returned, however the collection changes meanwhile. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';

let server: Server;
let client: RawClient;

beforeEach(() => {
  server = createNode(new TestHost());
  client = new RawClient(connectInMemory(server.connections));
});
afterEach(() => {
  client.close();
  server.stop();
});

/** One step of a scan: the next cursor and the returned items. */
async function step(command: string, cursor: string, ...options: string[]) {
  const { value } = await client.ask(command, 'k', cursor, ...options);
  const [next, items] = value[1] as readonly RawReply[];
  return {
    next: next![1] as string,
    items: (items![1] as readonly RawReply[]).map(([, text]) => text as string),
  };
}

const members = Array.from({ length: 2000 }, (_, i) => `member:${i}`);

describe.each([
  ['SSCAN', 'SADD', 'SREM', 1],
  ['HSCAN', 'HSET', 'HDEL', 2],
] as const)('%s', (scan, add, remove, width) => {
  const words = (names: readonly string[]): string[] =>
    names.flatMap((name) => (width === 1 ? [name] : [name, 'v']));
  const names = (items: readonly string[]): string[] => items.filter((_, i) => i % width === 0);

  test('returns every item once while nothing changes, about COUNT at a time', async () => {
    await client.ask(add, 'k', ...words(members));
    const seen: string[] = [];
    let cursor = '0';
    do {
      const { next, items } = await step(scan, cursor, 'COUNT', '100');
      expect(items.length).toBeLessThanOrEqual(100 * width);
      seen.push(...names(items));
      cursor = next;
    } while (cursor !== '0');
    expect(seen.toSorted()).toEqual(members.toSorted());
  });

  test('returns every item that stays while others are added and removed', async () => {
    await client.ask(add, 'k', ...words(members));
    const staying = members.filter((_, i) => i % 3 === 0);
    const going = members.filter((_, i) => i % 3 !== 0);
    const seen = new Set<string>();
    let cursor = '0';
    let round = 0;
    do {
      const { next, items } = await step(scan, cursor, 'COUNT', '37');
      for (const name of names(items)) seen.add(name);
      await client.ask(remove, 'k', ...going.splice(0, 40));
      await client.ask(add, 'k', ...words([`new:${round}`, `newer:${round++}`]));
      cursor = next;
    } while (cursor !== '0');
    expect(staying.filter((name) => !seen.has(name))).toEqual([]);
    expect(round).toBeGreaterThan(5);
  });

  test('an outdated cursor does no harm', async () => {
    await client.ask(add, 'k', ...words(members));
    expect((await step(scan, '18446744073709551615', 'COUNT', '5')).items.length).toBe(5 * width);
    expect((await step(scan, '1', 'COUNT', '5')).next).toBe('0');
  });

  test('MATCH filters the scanned items', async () => {
    await client.ask(add, 'k', ...words(members));
    const { next, items } = await step(scan, '0', 'MATCH', 'member:1', 'COUNT', '5000');
    expect([next, names(items)]).toEqual(['0', ['member:1']]);
  });
});

test('random members and fields of a big collection belong to it', async () => {
  await client.ask('SADD', 'k', ...members);
  await client.ask('HSET', 'h', ...members.flatMap((name) => [name, `value of ${name}`]));
  const texts = ({ value }: { value: RawReply }) =>
    (value[1] as readonly RawReply[]).map(([, text]) => text as string);
  const known = new Set(members);
  for (const count of ['50', '-50']) {
    const picked = texts(await client.ask('SRANDMEMBER', 'k', count));
    expect(picked).toHaveLength(50);
    expect(picked.every((name) => known.has(name))).toBe(true);
    const pairs = texts(await client.ask('HRANDFIELD', 'h', count, 'WITHVALUES'));
    expect(pairs).toHaveLength(100);
    for (let i = 0; i < 100; i += 2) expect(pairs[i + 1]).toBe(`value of ${pairs[i]}`);
  }
  const popped = texts(await client.ask('SPOP', 'k', '1500'));
  expect(new Set(popped).size).toBe(1500);
  expect((await client.ask('SCARD', 'k')).raw).toBe(':500\r\n');
  expect((await client.ask('SISMEMBER', 'k', popped[0]!)).raw).toBe(':0\r\n');
});
