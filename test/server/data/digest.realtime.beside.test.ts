/** DEBUG DIGEST and DIGEST-VALUE in the form of each real server. */
import { describe, expect, test } from 'vitest';
import { FORMATS, type RdbFormat } from '../../../keyspace/rdb/formats.ts';
import { cleanUpAfterEachTest, type Node, ours, real } from '../../support/nodes.ts';
import { realServers } from '../../support/oracles.ts';

cleanUpAfterEachTest();

const SCORES = ['0.1', '1e8', '1e15', '-1.5e-7', '3', '-0.25', 'inf', '1.25e22', '123456789012345678'];
const FIELDS_END = 'HPEXPIREAT';

const WRITES: readonly string[][] = [
  ['SET', 'string', 'value'],
  ['SET', 'number', '12'],
  ['SET', 'ends', 'value', 'PX', '1000000'],
  ['RPUSH', 'list', 'a', '1', 'x'.repeat(9000)],
  ['SADD', 'set', 'a', 'b', '1'],
  ['SADD', 'numbers', '3', '1', '2'],
  ['HSET', 'hash', 'f', 'v', 'g', '7', 'long', 'x'.repeat(100)],
  ['HSET', 'small', 'f', 'v', 'g', '7'],
  ['ZADD', 'packed', ...SCORES.flatMap((score, i) => [score, `m${i}`])],
  ['ZADD', 'table', ...SCORES.flatMap((score, i) => [score, `m${i}${'x'.repeat(70)}`])],
  ['XADD', 'stream', '1-1', 'f', 'v', 'g', 'w'],
  ['XADD', 'stream', '2-1', 'other', 'v'],
  ['XGROUP', 'CREATE', 'stream', 'group', '0'],
  ['XREADGROUP', 'GROUP', 'group', 'ann', 'STREAMS', 'stream', '>'],
  ['PFADD', 'hll', 'a', 'b', 'c'],
  ['SETBIT', 'bits', '100', '1'],
  [FIELDS_END, 'hash', '4102444800123', 'FIELDS', '1', 'f'],
  [FIELDS_END, 'small', '4102444800123', 'FIELDS', '2', 'f', 'g'],
];
const KEYS = [
  ...new Set(WRITES.map(([, key = '']) => key).filter((key) => key !== 'CREATE' && key !== 'GROUP')),
];

const servers = realServers();

async function formatOf(node: Node): Promise<RdbFormat> {
  await node.ask('SET', 'string', 'value');
  const payload = (await node.redis.dumpBuffer('string')) as Buffer;
  const version = payload.readUInt16LE(payload.length - 10);
  return FORMATS.find((each) => each.version === version) as RdbFormat;
}

describe.skipIf(servers.length === 0)('equal to those of (needs real servers)', () => {
  test.each(servers)('%s', async (_name, program) => {
    const [theirs, own] = [await real({ 'enable-debug-command': 'yes' }, program), await ours()];
    own.server.rdbFormat = await formatOf(theirs);
    const knows = own.server.rdbFormat.fieldTimes !== 'beside';
    for (const db of ['0', '7']) {
      for (const node of [theirs, own]) {
        await node.ask('SELECT', db);
        for (const words of WRITES) {
          const answer = await node.ask(...words);
          if (words[0] === FIELDS_END) expect(Array.isArray(answer)).toBe(knows || node === own);
        }
      }
      const digests = (node: Node): Promise<unknown> => node.ask('DEBUG', 'DIGEST-VALUE', ...KEYS, 'absent');
      expect(await digests(own)).toEqual(await digests(theirs));
      expect(await own.ask('DEBUG', 'DIGEST')).toBe(await theirs.ask('DEBUG', 'DIGEST'));
    }
  });
});
