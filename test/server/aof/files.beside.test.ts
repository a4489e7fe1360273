/** The append-only file beside real servers: the same bytes, and each loads what the other wrote. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRequest } from '../../../protocol/encode.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { findProgram, hasRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { checkAof, filesOf, type Side, scratch, startOurs, startTheirs } from './sides.ts';

const LIBRARY =
  "\"#!lua name=lib\\nredis.register_function('f', function(keys) return redis.call('incr', keys[1]) end)\"";

/** Requests whose effects are of every kind: rewritten, wrapped, in several databases, of scripts, and none at all. */
const SESSION = [
  ...['SET k v', 'SET e v PX 100000000', 'EXPIRE k 100000', 'GETEX e PERSIST', 'INCRBYFLOAT n 1.5'],
  ...[
    'SELECT 3',
    'SET z 1',
    'MULTI',
    'SET a 1',
    'INCR a',
    'EXEC',
    'MULTI',
    'SELECT 2',
    'SET b 2',
    'SET c 3',
    'EXEC',
  ],
  ...['MULTI', 'SET one 1', 'EXEC', 'SELECT 0', 'GET nothing', 'DEL nothing'],
  `EVAL "redis.call('set','s','1') redis.call('incr','s') redis.call('publish','c','x') return 1" 0`,
  `EVAL "redis.call('set','s','2') redis.call('publish','c','x') return redis.call('spop','none')" 0`,
  `EVAL "redis.set_repl(redis.REPL_AOF) redis.call('set','here','1') redis.set_repl(redis.REPL_REPLICA) redis.call('set','there','1') redis.set_repl(redis.REPL_NONE) redis.call('set','nowhere','1') return 1" 0`,
  ...['DEL there nowhere', 'PUBLISH c hello', 'SPUBLISH c hello', 'SCRIPT LOAD "return 1"'],
  ...[`FUNCTION LOAD ${LIBRARY}`, 'FCALL f 1 counter'],
  ...[
    'RPUSH l a b c',
    'LPOP l',
    'LMPOP 1 l LEFT COUNT 2',
    'SADD set a b',
    'SREM set a b',
    'ZADD zs 1.5 m 2 n',
  ],
  ...['HSET h f v g w', 'HDEL h f', 'XADD st 5-1 f v', 'XADD st 5-2 f v', 'XADD st MAXLEN 1 6-1 f v'],
  ...['XGROUP CREATE st g 0', 'XREADGROUP GROUP g c COUNT 1 STREAMS st >', 'XACK st g 6-1', 'PFADD hll a b'],
  ...[
    'SETBIT bits 100 1',
    'GEOADD geo 13.361389 38.115556 Palermo',
    'COPY zs zs2',
    'RENAME zs2 zs3',
    'MOVE zs3 4',
  ],
  ...['SET short v PX 1', 'DEBUG SLEEP 0.01', 'GET short', 'EXPIRE h 0'],
  ...['SET binary "\\x00\\xff\\r\\n"', 'SET "" empty'],
];

const DIALECTS: readonly DialectName[] = ['redis-7.0', 'redis-8.2', 'redis-8.6', 'valkey-8.1', 'valkey-9'];

describe.each(DIALECTS)('%s', (dialect) => {
  const there = test.skipIf(!hasRedisServer || oracleOf(dialect) === undefined);

  there(
    'a session leaves the same files, and each loads those of the other (needs redis-server)',
    async () => {
      using here = scratch();
      using beyond = scratch();
      const digests: string[] = [];
      {
        await using ours = await startOurs(here.folder, dialect);
        await using theirs = await startTheirs(beyond.folder, dialect);
        const replies = await ours.ask(...SESSION);
        expect(replies.map(withoutTimes)).toEqual((await theirs.ask(...SESSION)).map(withoutTimes));
        for (const side of [ours, theirs]) digests.push(...(await side.ask('DEBUG DIGEST')));
        for (const side of [ours, theirs]) await untilWritten(side);
        expect(filesOf(here.folder)).toEqual(filesOf(beyond.folder));
        const figures = (info: string) =>
          info.match(/(aof_enabled|aof_current_size|aof_buffer_length|aof_last_write_status):\w+/g);
        const [[info = ''], [real = '']] = [
          await ours.ask('INFO persistence'),
          await theirs.ask('INFO persistence'),
        ];
        expect(figures(info)).toEqual(figures(real));
        const offset = (info: string) => /master_repl_offset:\d+/.exec(info)?.[0];
        const [[repl = ''], [realRepl = '']] = [
          await ours.ask('INFO replication'),
          await theirs.ask('INFO replication'),
        ];
        expect(offset(repl)).toBe(offset(realRepl));
      }
      expect(digests[0]).toBe(digests[1]);
      if (findProgram('redis-check-aof') !== undefined && dialect === 'redis-7.0') {
        expect(checkAof(here.folder)).toContain('All AOF files and manifest are valid');
      }
      await using theirs = await startTheirs(here.folder, dialect);
      await using ours = await startOurs(beyond.folder, dialect);
      for (const side of [ours, theirs]) {
        expect(await side.ask('DEBUG DIGEST', 'FCALL f 1 counter', 'OBJECT ENCODING zs')).toEqual([
          digests[0],
          ':2',
          '"listpack"',
        ]);
      }
    },
  );

  there('after a rewrite each loads what the other wrote (needs redis-server)', async () => {
    using here = scratch();
    using beyond = scratch();
    const digests: string[] = [];
    {
      await using ours = await startOurs(here.folder, dialect);
      await using theirs = await startTheirs(beyond.folder, dialect);
      for (const side of [ours, theirs]) {
        await side.ask(...SESSION, 'BGREWRITEAOF', 'SET while rewriting');
        await until(async () =>
          (await side.ask('INFO persistence'))[0]?.includes('aof_rewrite_in_progress:0'),
        );
        await side.ask('SET after rewriting');
        await untilWritten(side);
        digests.push(...(await side.ask('DEBUG DIGEST')));
      }
      expect(filesOf(here.folder)).toEqual(filesOf(beyond.folder));
      expect(filesOf(here.folder)['appendonly.aof.2.incr.aof']).toContain('while');
    }
    expect(digests[0]).toBe(digests[1]);
    await using theirs = await startTheirs(here.folder, dialect);
    await using ours = await startOurs(beyond.folder, dialect);
    for (const side of [ours, theirs]) {
      expect(await side.ask('DEBUG DIGEST', 'DEBUG LOADAOF', 'DEBUG DIGEST', 'GET after')).toEqual([
        digests[0],
        '+OK',
        digests[0],
        '"rewriting"',
      ]);
    }
  });

  there('a base of commands begins with its time where times are wanted (needs redis-server)', async () => {
    using here = scratch();
    using beyond = scratch();
    await using ours = await startOurs(here.folder, dialect);
    await using theirs = await startTheirs(beyond.folder, dialect);
    for (const side of [ours, theirs]) {
      await side.ask(
        'CONFIG SET aof-use-rdb-preamble no aof-timestamp-enabled yes',
        'SET k v',
        'BGREWRITEAOF',
      );
      await until(async () => (await side.ask('INFO persistence'))[0]?.includes('aof_rewrite_in_progress:0'));
    }
    const baseOf = (folder: string) =>
      filesOf(folder)['appendonly.aof.2.base.aof']?.replace(/#TS:\d+/, '#TS:1');
    expect(baseOf(here.folder)).toContain('#TS:1');
    expect(baseOf(here.folder)).toBe(baseOf(beyond.folder));
  });

  there('a key whose time has passed is loaded, and then removed (needs redis-server)', async () => {
    using here = scratch();
    using beyond = scratch();
    const sides = [
      [here.folder, startOurs],
      [beyond.folder, startTheirs],
    ] as const;
    const files: unknown[] = [];
    for (const [folder, begin] of sides) {
      {
        await using side = await begin(folder, dialect);
        await side.ask('SET k v');
        await untilWritten(side);
      }
      const file = join(folder, 'appendonlydir', 'appendonly.aof.1.incr.aof');
      appendFileSync(file, encodeRequest(['SET', 'old', 'v', 'PXAT', '1600000000000']));
      await using side = await begin(folder, dialect);
      await until(async () => (await side.ask('DBSIZE'))[0] === ':1');
      await untilWritten(side);
      await until(() =>
        /(DEL|UNLINK)\r\n\$3\r\nold/.test(filesOf(folder)['appendonly.aof.1.incr.aof'] ?? ''),
      );
      files.push(filesOf(folder)['appendonly.aof.1.incr.aof']);
    }
    expect(files[0]).toBe(files[1]);
  });
});

/** With everysec, a write is put off while the disk is busy with the last fsync: the buffer is then not empty. */
async function untilWritten(side: Side): Promise<void> {
  await until(async () => (await side.ask('INFO persistence'))[0]?.includes('aof_buffer_length:0'));
}

function withoutTimes(reply: string): string {
  return reply.replace(/\b1[6-9]\d{11}\b/g, 'TIME');
}
