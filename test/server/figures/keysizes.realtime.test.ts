/** INFO keysizes: exact for ordinary databases, and an estimate for large ones. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

function node() {
  const client = new Conversation(createNode(new TestHost(), { dialect: 'redis-8.2' }));
  const fill = (from: number, to: number): string =>
    client.ask(`EVAL "for i=${from},${to} do redis.call('SET','k'..i,'v') end" 0`);
  const sizes = (): string | undefined =>
    /db0_distrib_strings_sizes:([\d=,]*)/.exec(client.ask('INFO keysizes'))?.[1];
  return { client, fill, sizes };
}

test('up to ten thousand keys are counted for each INFO', () => {
  const { client, fill, sizes } = node();
  fill(1, 9_998);
  expect(sizes()).toBe('1=9998');
  fill(9_999, 10_000);
  expect(sizes()).toBe('1=10000');
  client.ask('APPEND k1 xyz');
  expect(sizes()).toBe('1=9999,4=1');
});

test('a count is not kept when fields have expired, even if CONFIG RESETSTAT forgets how many', () => {
  const host = new TestHost();
  const client = new Conversation(createNode(host, { dialect: 'redis-8.2' }));
  client.ask(`EVAL "for i=1,1000 do redis.call('SET','k'..i,'v') end" 0`);
  client.ask('HSET h a 1 b 2 c 3 d 4');
  const hashes = (): string | undefined =>
    /db0_distrib_hashes_items:([\d=,]*)/.exec(client.ask('INFO keysizes'))?.[1];
  for (const field of 'abc') {
    client.ask(`HPEXPIRE h 10 FIELDS 1 ${field}`);
    expect(hashes()).toBe({ a: '4=1', b: '2=1', c: '2=1' }[field]);
    host.advance(1000);
    expect(hashes()).toBe({ a: '2=1', b: '2=1', c: '1=1' }[field]);
    client.ask('CONFIG RESETSTAT');
  }
  client.ask('HSET h e 5');
  expect(hashes()).toBe('2=1');
});

const EVERY_TYPE = [
  ...['SET s ""', 'APPEND t abcd', 'SETRANGE long 1047 x', 'RPUSH l 1 2 3', 'SADD u 1', 'ZADD z 1 a 2 b'],
  ...['HSET h a 1', 'XADD x * f v', 'VADD v VALUES 2 1 2 e'],
];
/** redis-server 8.2 printed these; the test below asks it again. */
const SIZES = [
  'db0_distrib_strings_sizes:0=1,4=1,1K=1',
  'db0_distrib_lists_items:2=1',
  'db0_distrib_sets_items:1=1',
  'db0_distrib_zsets_items:2=1',
  'db0_distrib_hashes_items:1=1',
];
const fieldsIn = (info: string) => info.match(/db0_distrib_\w+:[\w=,]*/g);

test('every type but streams and vector sets is counted, by powers of two', () => {
  const { client } = node();
  for (const line of EVERY_TYPE) client.ask(line);
  expect(fieldsIn(client.ask('INFO keysizes'))).toEqual(SIZES);
});

const program = oracleOf('redis-8.2');
test.skipIf(program === undefined)('as in the real server (needs redis-8.2)', async () => {
  await using redis = await startRedisServer({ program: program ?? '' });
  const client = await RawClient.connect({ path: redis.path });
  await client.send(`${[...EVERY_TYPE, 'INFO keysizes'].join('\r\n')}\r\n`);
  for (const _ of EVERY_TYPE) await client.read();
  expect(fieldsIn((await client.read()).raw)).toEqual(SIZES);
  client.close();
});

test('the numbers of more keys are estimated from a sample', () => {
  const { client, fill, sizes } = node();
  fill(1, 40_000);
  // Only every fourth key is looked at, from the first one on.
  client.ask('APPEND k2 xyz');
  expect(sizes()).toBe('1=40000');
  client.ask(`EVAL "for i=1,40000,3 do redis.call('APPEND','k'..i,'xyz') end" 0`);
  const [ones = 0, fours = 0] = (sizes() ?? '').split(',').map((each) => Number(each.split('=')[1]));
  expect(ones + fours).toBe(40_000);
  expect(fours / ones).toBeCloseTo(0.5, 1);
  client.ask('FLUSHALL');
  expect(sizes()).toBeUndefined();
});
