/** INFO keysizes: exact for ordinary databases, and an estimate for large ones. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
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

test('the numbers of more keys are estimated from a sample of all sizes', () => {
  const { client, fill, sizes } = node();
  fill(1, 40_000);
  client.ask(`EVAL "for i=1,40000,3 do redis.call('APPEND','k'..i,'xyz') end" 0`);
  const [ones = 0, fours = 0] = (sizes() ?? '').split(',').map((each) => Number(each.split('=')[1]));
  expect(ones + fours).toBe(40_000);
  expect(fours / ones).toBeCloseTo(0.5, 1);
  client.ask('FLUSHALL');
  expect(sizes()).toBeUndefined();
});
