/** A replica applies commands and options that its own dialect does not have. */
import { expect, test } from 'vitest';
import { digestOfAll } from '../../../server/data/digest.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { cleanUpAfterEachTest, ours } from '../../support/nodes.ts';

cleanUpAfterEachTest();

/** Commands and options of newer servers that enter the stream as they are, or as commands that are new too. */
const WRITES = [
  ['HSETEX', 'h', 'PX', '1000000', 'FIELDS', '1', 'f', '1'],
  ['HSET', 'h', 'g', '1', 'i', '2'],
  ['HPEXPIRE', 'h', '1000000', 'FIELDS', '1', 'g'],
  ['HGETEX', 'h', 'PX', '2000000', 'FIELDS', '1', 'g'],
  ['HGETDEL', 'h', 'FIELDS', '1', 'i'],
  ['HINCRBYFLOAT', 'h', 'f', '1.5'],
  ['SET', 'a', 'foobar'],
  ['SET', 'b', 'abcdef'],
  ['BITOP', 'DIFF', 'c', 'a', 'b'],
  ['XADD', 's', '1-1', 'f', 'v'],
  ['XADD', 's', '2-1', 'f', 'v'],
  ['XADD', 's', 'DELREF', 'MAXLEN', '=', '2', '3-1', 'f', 'v'],
  ['XTRIM', 's', 'MAXLEN', '=', '2', 'KEEPREF'],
  ['XDELEX', 's', 'DELREF', 'IDS', '1', '2-1'],
  ['MSETEX', '2', 'k', '1', 'l', '2', 'PX', '1000000'],
  ['MULTI'],
  ['HSETEX', 'm', 'EX', '1000', 'FIELDS', '1', 'f', 'v'],
  ['BITOP', 'ONE', 'd', 'a', 'b'],
  ['EXEC'],
];

test.each(dialectNames)(
  'a strict replica of the dialect %s applies everything that its primary knows',
  async (dialect) => {
    const [primary, replica] = [
      await ours({}, { dialect: 'redis-8.2' }),
      await ours({}, { dialect, strict: true }),
    ];
    primary.server.rdbFormat = replica.server.rdbFormat;
    await replica.follow(primary);
    for (const words of WRITES)
      expect(String(await primary.ask(...words)), words.join(' ')).not.toMatch(/^ERR/);
    await replica.caughtUp(primary);
    const { rdbFormat } = primary.server;
    expect(digestOfAll(replica.server.databases, rdbFormat)).toBe(
      digestOfAll(primary.server.databases, rdbFormat),
    );
    expect(replica.server.stats.unexpectedErrors).toBe(0);
  },
);

test('its own clients are refused what its dialect does not have', async () => {
  const [primary, replica] = [await ours({}, { dialect: 'redis-8.2' }), await ours({}, { strict: true })];
  await replica.follow(primary);
  await primary.ask('HSETEX', 'h', 'FIELDS', '1', 'f', 'v');
  await replica.caughtUp(primary);
  expect(await replica.ask('HGET', 'h', 'f')).toBe('v');
  await replica.ask('REPLICAOF', 'NO', 'ONE');
  expect(await replica.ask('HSETEX', 'h', 'FIELDS', '1', 'f', 'w')).toMatch(/^ERR unknown command 'HSETEX'/);
  expect(await replica.ask('BITOP', 'DIFF', 'c', 'a', 'b')).toBe('ERR syntax error');
});
