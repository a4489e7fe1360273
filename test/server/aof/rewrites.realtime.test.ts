/** Rewrites of the append-only file, and switching it on and off while the server runs. */
import { describe, expect, test } from 'vitest';
import { VirtualDisk } from '../../../lab/replica-group/disk.ts';
import { AppendOnlyFile } from '../../../server/aof/append-only-file.ts';
import { createNode } from '../../../server/index.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';
import { filesOf, type Side, scratch, startOurs, startTheirs } from './sides.ts';

const VALUES = [
  ...[
    'SET s 12',
    'SET e v PXAT 4000000000000',
    'RPUSH l a 1 b',
    'SADD si 1 2',
    'SADD st x',
    'ZADD z 1.5 a 2 b 0.1 c',
  ],
  ...[
    'HSET h f v g w',
    'SELECT 2',
    'SET x y',
    'SELECT 0',
    'PFADD hll a b',
    `RPUSH big ${[...Array(130).keys()].join(' ')}`,
  ],
  ...['XADD stream 1-1 f v', 'XADD stream 2-1 f v g w', 'XADD stream 3-1 a b', 'XDEL stream 3-1'],
  ...[
    'XGROUP CREATE stream g 0',
    'XREADGROUP GROUP g c1 COUNT 1 STREAMS stream >',
    'XGROUP CREATECONSUMER stream g c2',
  ],
  ...['XGROUP CREATE stream g2 $ ENTRIESREAD 2', 'XGROUP CREATE empty g 0 MKSTREAM'],
  `FUNCTION LOAD "#!lua name=lib\\nredis.register_function('f', function() return 1 end)"`,
];

async function rewrite(side: Side): Promise<void> {
  await side.ask('BGREWRITEAOF');
  await rewritten(side);
}

function rewritten(side: Side): Promise<unknown> {
  return until(async () => (await side.ask('INFO persistence'))[0]?.includes('aof_rewrite_in_progress:0'));
}

test('a base of commands brings everything back', async () => {
  using here = scratch();
  let digest: string[];
  {
    await using side = await startOurs(here.folder, 'redis-8.2', { 'aof-use-rdb-preamble': false });
    await side.ask(...VALUES, 'HPEXPIREAT h 4000000000000 FIELDS 1 f', 'VADD vs VALUES 2 1 0 el');
    await rewrite(side);
    digest = await side.ask('DEBUG DIGEST');
    expect(filesOf(here.folder)['appendonly.aof.2.base.aof']).toContain('PEXPIREAT');
  }
  await using side = await startOurs(here.folder, 'redis-8.2');
  expect(
    await side.ask('DEBUG DIGEST', 'HPEXPIRETIME h FIELDS 1 f', 'FCALL f 0', 'VSIM vs VALUES 2 1 0'),
  ).toEqual([...digest, '[:4000000000000]', ':1', '["el"]']);
});

test.skipIf(!hasRedisServer)(
  'a base of commands is the one of redis-server (needs redis-server)',
  async () => {
    using here = scratch();
    using beyond = scratch();
    await using ours = await startOurs(here.folder, 'redis-7.0', { 'aof-use-rdb-preamble': false });
    await using theirs = await startTheirs(beyond.folder, 'redis-7.0', ['--aof-use-rdb-preamble', 'no']);
    const commands: string[][] = [];
    for (const side of [ours, theirs]) {
      await side.ask(...VALUES);
      await rewrite(side);
      // Every key has its commands in the same order, but redis-server's keys come in the order of its hash table.
      const text = filesOf(side.folder)['appendonly.aof.2.base.aof'] ?? '';
      commands.push(
        text
          .split(/(?=\*\d+\r\n\$)/)
          .filter((argv) => !argv.includes('CREATECONSUMER'))
          .sort(),
      );
    }
    expect(commands[0]).toEqual(commands[1]);
    await using copy = await startTheirs(here.folder);
    expect(await copy.ask('DEBUG DIGEST')).toEqual(await ours.ask('DEBUG DIGEST'));
  },
);

test.skipIf(!hasRedisServer)(
  'CONFIG SET appendonly writes the files of redis-server (needs redis-server)',
  async () => {
    using here = scratch();
    using beyond = scratch();
    await using ours = await startOurs(here.folder, 'redis-7.0', { appendonly: false });
    await using theirs = await startTheirs(beyond.folder, 'redis-7.0', ['--appendonly', 'no']);
    const steps = [
      ['CONFIG SET appendonly yes'],
      ['SET b 2', 'BGREWRITEAOF'],
      ['CONFIG SET appendonly no', 'SET c 3', 'BGREWRITEAOF'],
      ['CONFIG SET appendonly yes'],
      ['SET d 4'],
    ];
    await Promise.all([ours.ask('SET a 1'), theirs.ask('SET a 1')]);
    for (const step of steps) {
      const replies: unknown[] = [];
      for (const side of [ours, theirs]) {
        const said = await side.ask(...step);
        await rewritten(side);
        const [info = ''] = await side.ask('INFO persistence');
        const figures = info.match(
          /aof_(enabled|rewrites|last_bgrewrite_status|pending_rewrite|rewrite_scheduled):\w+/g,
        );
        replies.push([said, figures, filesOf(side.folder)]);
      }
      expect(replies[0]).toEqual(replies[1]);
    }
  },
);

describe('on a clock of its own', () => {
  function stage(settings = {}) {
    const host = Object.assign(new TestHost(), { disk: new VirtualDisk() });
    const server = createNode(host, { settings: { appendonly: true, ...settings } });
    const file = new AppendOnlyFile(server);
    file.open();
    const client = new Conversation(server);
    return {
      ...{ host, server, file },
      ask(line: string): string {
        const reply = client.ask(line);
        host.advance(0);
        return reply + client.ask('PING').replace(/ ?\+PONG$/, '');
      },
    };
  }

  test('the file is rewritten by itself when it has grown by the percentage', () => {
    const { host, server, ask } = stage({ 'auto-aof-rewrite-min-size': 1000 });
    for (let i = 0; i < 20; i++) ask('SET k vvvvvvvvvvvvvvvvvvvvvvvvvvvvvv');
    expect(server.stats.rewrites).toBe(0);
    host.advance(500);
    expect(server.stats.rewrites).toBe(1);
    expect(host.disk.names()).toContain('appendonlydir/appendonly.aof.2.base.rdb');
    const small = server.durability?.figures.size ?? 0;
    expect(small).toBeLessThan(300);
    for (let i = 0; i < 20; i++) ask('SET k vvvvvvvvvvvvvvvvvvvvvvvvvvvvvv');
    host.advance(500);
    expect(server.stats.rewrites).toBe(2);
  });

  test('it is not rewritten by itself when the percentage is 0', () => {
    const { host, server, ask } = stage({
      'auto-aof-rewrite-min-size': 100,
      'auto-aof-rewrite-percentage': 0,
    });
    for (let i = 0; i < 20; i++) ask('SET k v');
    host.advance(5000);
    expect(server.stats.rewrites).toBe(0);
  });

  test('everysec syncs once a second, no never, always before the reply', () => {
    const path = 'appendonlydir/appendonly.aof.1.incr.aof';
    const durable = (settings: object, ms: number) => {
      const { host, ask } = stage(settings);
      ask('SET k v');
      host.advance(ms);
      return host.disk.durable(path) > 0;
    };
    expect(durable({}, 0)).toBe(false);
    expect(durable({}, 1000)).toBe(true);
    expect(durable({ appendfsync: 'no' }, 10_000)).toBe(false);
    expect(durable({ appendfsync: 'always' }, 0)).toBe(true);
    expect(durable({ appendfsync: 'always', 'no-appendfsync-on-rewrite': true }, 0)).toBe(true);
  });

  test('a reply waits until its write is on the disk', () => {
    const { host, server } = stage({ appendfsync: 'always' });
    const client = new Conversation(server);
    expect(client.ask('SET k v')).toBe('');
    expect(new Conversation(server).ask('GET k')).toBe('');
    host.advance(0);
    expect(client.ask('GET k')).toBe('+OK "v"');
  });

  test('WAITAOF counts the local file once it is synced', () => {
    for (const dialect of ['redis-7.0', 'redis-8.2'] as const) {
      const host = Object.assign(new TestHost(), { disk: new VirtualDisk() });
      const server = createNode(host, { settings: { appendonly: true }, dialect, strict: false });
      new AppendOnlyFile(server).open();
      const client = new Conversation(server);
      expect(client.ask('WAITAOF 1 0 0')).toBe('[:1 :0]');
      client.ask('SET k v');
      host.advance(0);
      expect(client.ask('WAITAOF 1 0 100')).toBe('+OK');
      host.advance(100);
      expect(client.ask('WAITAOF 1 0 0')).toBe('[:0 :0]');
      host.advance(1000);
      expect(client.ask('PING')).toBe('[:1 :0] +PONG');
    }
  });
});

describe('when the disk fails', () => {
  class FailingDisk extends VirtualDisk {
    why: string | undefined;
    failsSync: string | undefined;
    override append(name: string, bytes: string): void {
      if (this.why !== undefined && bytes !== '') throw new Error(this.why);
      super.append(name, bytes);
    }
    override sync(name: string): void {
      if (this.failsSync !== undefined) throw new Error(this.failsSync);
      super.sync(name);
    }
    override syncLater(name: string, done: (error?: unknown) => void): void {
      if (this.failsSync === undefined) super.syncLater(name, done);
      else done(new Error(this.failsSync));
    }
  }

  function failing(settings: object) {
    const log: string[] = [];
    const host = Object.assign(new TestHost(), { disk: new FailingDisk() });
    const server = createNode(host, {
      settings: { appendonly: true, ...settings },
      log: (_, text) => log.push(text),
    });
    new AppendOnlyFile(server).open();
    return { host, server, log, client: new Conversation(server) };
  }

  const FULL = 'ENOSPC: no space left on device, write';

  test('with everysec writes are refused until the file can be written again', () => {
    const { host, client, log } = failing({});
    host.disk.why = FULL;
    client.ask('SET k v');
    host.advance(0);
    expect(log).toContain('Error writing to the AOF file: No space left on device');
    expect(client.ask('SET k w')).toBe(
      '+OK -MISCONF Errors writing to the AOF file: No space left on device',
    );
    expect(client.ask('PING')).toBe('-MISCONF Errors writing to the AOF file: No space left on device');
    expect(client.ask("EVAL \"return redis.call('set','k','w')\" 0")).toContain(
      'MISCONF Errors writing to the AOF file',
    );
    expect(client.ask('INFO persistence')).toContain('aof_last_write_status:err');
    host.disk.why = undefined;
    host.advance(1000);
    expect(client.ask('INFO persistence')).toContain('aof_last_write_status:ok');
    expect(client.ask('PING')).toBe('+PONG');
    expect(host.disk.read('appendonlydir/appendonly.aof.1.incr.aof')).toContain('SET');
  });

  test('a failed fsync in the background refuses writes as well', () => {
    const { host, client, log } = failing({});
    client.ask('SET k v');
    host.disk.failsSync = 'EIO: i/o error, fdatasync';
    host.advance(1000);
    expect(log).toContain('Fail to fsync the AOF file: I/o error');
    expect(client.ask('SET k w')).toContain('-MISCONF Errors writing to the AOF file: I/o error');
    host.disk.failsSync = undefined;
    host.advance(1000);
    expect(client.ask('PING')).toBe('+PONG');
  });

  test.each([
    [
      'a write',
      { why: FULL },
      "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...",
    ],
    [
      'an fsync',
      { failsSync: 'EIO: i/o error, fdatasync' },
      "Can't persist AOF for fsync error when the AOF fsync policy is 'always': I/o error. Exiting...",
    ],
  ])('with always, the server ends without a reply when %s fails', (_title, failure, last) => {
    const { host, server, log, client } = failing({ appendfsync: 'always' });
    Object.assign(host.disk, failure);
    client.ask('SET k v');
    host.advance(0);
    expect(log.at(-1)).toBe(last);
    expect(server.stopped).toBe(true);
    expect(client.ask('PING')).toBe('');
  });
});
