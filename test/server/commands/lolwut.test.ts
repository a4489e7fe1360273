/** LOLWUT, whose picture is our own. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

test('LOLWUT draws something and ends with the version of Redis', () => {
  const redis = new Conversation(createNode(new TestHost(), { dialect: INSTALLED }));
  for (const request of [
    'LOLWUT',
    'lolwut version 5',
    'LOLWUT VERSION 6 3 2',
    'LOLWUT VERSION',
    'LOLWUT foo',
  ]) {
    expect(redis.ask(request), request).toMatch(/^".*Redis ver\. 7\.0\.15\\x0a"$/);
  }
  const lines = redis.ask('LOLWUT VERSION 1 1000000 1000000').split('\\x0a');
  expect(lines.length).toBeLessThan(120);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  expect(redis.ask('LOLWUT VERSION x')).toBe('-ERR value is not an integer or out of range');
  expect(redis.ask('LOLWUT VERSION 5 x')).toBe('-ERR value is not an integer or out of range');
});
