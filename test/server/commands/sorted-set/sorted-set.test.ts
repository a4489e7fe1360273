/** Sorted set behaviour that transcripts cannot show: scans of large sets, and randomness. */
import { beforeEach, expect, test } from 'vitest';
import { createNode } from '../../../../server/index.ts';
import { TestHost } from '../../../support/targets.ts';
import { Conversation } from '../../../transcripts/own.ts';

let redis: Conversation;
const members = Array.from({ length: 500 }, (_, i) => `m${i}`);

beforeEach(() => {
  redis = new Conversation(createNode(new TestHost()));
  redis.ask(`ZADD z ${members.map((member, i) => `${i} ${member}`).join(' ')}`);
});

function words(reply: string): string[] {
  return [...reply.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
}

/** All members and scores of a scan, in steps. */
function scanAll(rest: string, between: (round: number) => void = () => {}): [string, string][] {
  const found: [string, string][] = [];
  let cursor = '0';
  for (let round = 0; round === 0 || cursor !== '0'; round++) {
    const [next = '0', ...items] = words(redis.ask(`ZSCAN z ${cursor} ${rest}`));
    for (let i = 0; i < items.length; i += 2) found.push([items[i]!, items[i + 1]!]);
    cursor = next;
    between(round);
  }
  return found;
}

test('ZSCAN of a large set goes in steps and returns every member once, with its score', () => {
  expect(words(redis.ask('ZSCAN z 0 COUNT 7'))).toHaveLength(1 + 2 * 7);
  const found = scanAll('COUNT 13');
  expect(new Map(found)).toEqual(new Map(members.map((member, i) => [member, String(i)])));
  expect(found).toHaveLength(members.length);
  expect(scanAll('MATCH m49? COUNT 100').map(([member]) => member)).toEqual(
    expect.arrayContaining(members.slice(490)),
  );
});

test('ZSCAN returns every member that stays while others are added, removed and rescored, and another scan runs', () => {
  const staying = members.filter((_, i) => i % 2 === 0);
  const found = scanAll('COUNT 5', (round) => {
    redis.ask(`ZREM z ${members[2 * round + 1] ?? 'none'} ${members[499 - 2 * round] ?? 'none'}`);
    redis.ask(`ZADD z -${round} new${round} ${round} ${staying[round % staying.length]}`);
    if (round % 3 === 0) redis.ask('ZSCAN z 0 COUNT 3');
  });
  const met = new Set(found.map(([member]) => member));
  expect(staying.filter((member) => !met.has(member))).toEqual([]);
});

test('ZRANDMEMBER with a positive count returns different members, drawn from all', () => {
  const picked = words(redis.ask('ZRANDMEMBER z 499'));
  expect(new Set(picked).size).toBe(499);
  expect(words(redis.ask('ZRANDMEMBER z -1000'))).toHaveLength(1000);
  const seen = new Set(Array.from({ length: 100 }, () => redis.ask('ZRANDMEMBER z')));
  expect(seen.size).toBeGreaterThan(20);
});
