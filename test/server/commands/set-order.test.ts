/** The order of the members of small sets that SINTERSTORE, SUNIONSTORE and SDIFFSTORE make, as Redis 8.2.3 and Valkey 9.1.2 answer it. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

test.each([
  ['SINTERSTORE', '["7" "-5" "a"]'],
  ['SUNIONSTORE', '["-5" "7" "a"]'],
  ['SDIFFSTORE', '["-5" "7" "a"]'],
])('%s of a listpack that begins with integers', (command, members) => {
  const redis = new Conversation(createNode(new TestHost(), { dialect: 'redis-8.2' }));
  redis.ask('SADD s 7 gone -5 a');
  redis.ask('SREM s gone');
  redis.ask(`${command} d s`);
  expect(redis.ask('SMEMBERS d')).toEqual(members);
  expect(redis.ask('OBJECT ENCODING d')).toBe('"listpack"');
});
