/** What a failed test says in its own error: the story of its pairs, the requests of its servers with replies, and the keys. */
import { expect, test } from 'vitest';
import { startCluster, startServers } from '../../lab/start.ts';
import { TestFixtures } from '../../runners/fixtures.ts';

/** Fails a test that used these fixtures, and returns the message of its error. */
async function failedWith(all: TestFixtures, error = new Error('expected 1 to be 2')): Promise<Error> {
  const folder = process.env.LOSTLOCK_TIMELINES;
  process.env.LOSTLOCK_TIMELINES = '';
  try {
    await all.close(true, [error]);
  } finally {
    if (folder === undefined) delete process.env.LOSTLOCK_TIMELINES;
    else process.env.LOSTLOCK_TIMELINES = folder;
  }
  return error;
}

test('the sentences of a pair stand in the error, with what the test noted', async () => {
  const all = new TestFixtures(() => 'a test');
  const pair = await all.pair();
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  await pair.failover({ crash: true });
  await pair.client('B').set('my:lock', 'B', 'PX', 30_000, 'NX');
  pair.note('w1', 'charges o1');
  expect(pair.overlaps()).toMatchObject([{ lock: 'my:lock', clients: ['A', 'B'] }]);
  expect(pair.story()).toMatch(/\d ms {2}From here on, A and B both believe that they hold my:lock/);
  const { lanes, marks, story } = pair.timelineData();
  expect(lanes).toContainEqual({ name: 'w1', kind: 'client' });
  expect(marks).toContainEqual(expect.objectContaining({ lane: 'w1', kind: 'note', text: 'charges o1' }));
  expect(story.map(({ text }) => text)).toContain('w1 charges o1.');
  expect(() => pair.note('w1', '')).toThrow('option note');
  pair.note('w1', 'is done.');
  expect(pair.story()).toMatch(/ w1 is done\.$/m);
  const { message, stack } = await failedWith(all);
  for (const text of [message, stack]) {
    expect(text).toContain('expected 1 to be 2');
    expect(text).toContain('What happened in the pair:');
    expect(text).toContain('both believe that they hold my:lock');
    expect(text).toContain('w1 charges o1.');
  }
  expect(stack).toMatch(/\n {4}at /);
});

test('a note needs a name, also in several sets and in a cluster', async () => {
  await using servers = await startServers({ primaries: 3 });
  expect(() => servers.note('', 'charges o1')).toThrow('option note');
  expect(() => servers.note('kernel', 'charges o1')).toThrow('option note');
  servers.note('redis-2', 'is slow');
  expect(servers.story()).toContain('redis-2 is slow.');
  await using cluster = await startCluster({ clock: 'virtual' });
  expect(() => cluster.note('', 'charges o1')).toThrow('option note');
});

test('the last requests with replies, what scripts called, and the keys that are left stand in the error', async () => {
  const all = new TestFixtures(() => 'a test');
  const redis = await all.redis();
  for (let i = 0; i < 30; i++) await redis.incr('n');
  await redis.client('SETNAME', 'worker');
  await redis.set('my:lock', 'A', 'PX', 30_000, 'NX');
  await redis.set('my:lock', 'B', 'PX', 30_000, 'NX');
  await redis.rpush('queue', 'a b', 'c');
  await redis.call('NOSUCH').catch(() => {});
  await redis.eval(
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end",
    1,
    'my:lock',
    'B',
  );
  const { message } = await failedWith(all);
  const lines = message.split('\n');
  const from = lines.findIndex((line) => line.startsWith('The last 20 requests to redis://127.0.0.1:'));
  const to = lines.indexOf('The keys that were left:');
  expect(lines.slice(from + 1, to).filter((line) => !line.startsWith('      '))).toHaveLength(20);
  expect(lines).toContain('  worker: SET my:lock A PX 30000 NX -> OK');
  expect(lines).toContain('  worker: SET my:lock B PX 30000 NX -> (nil)');
  expect(lines).toContain('  worker: RPUSH queue "a b" c -> (integer) 2');
  expect(message).toContain('NOSUCH -> (error) ERR unknown command');
  expect(lines).toContain('      the script called GET my:lock -> "A"');
  expect(message).toMatch(/my:lock = A, expires in \d+ ms/);
  expect(message).toContain('queue = list "[\\"a b\\",\\"c\\"]", never expires');
});

test('requests of a recording have their replies: of blocked clients, of rules, and none for what is not sent', async () => {
  const all = new TestFixtures(() => 'a test');
  const server = await all.server();
  const [one, two] = [
    await all.redis(),
    await all.redis({ maxRetriesPerRequest: 0, retryStrategy: () => null }),
  ];
  two.on('error', () => {});
  const { entries } = server.requests();
  const popped = one.blpop('queue', 0);
  await two.rpush('queue', 'a');
  await popped;
  server.intercept({ command: 'get' }, { reply: 'faked' });
  await two.get('k');
  server.intercept({ command: 'del' }, 'disconnect-after');
  await two.del('k').catch(() => {});
  const replies = Object.fromEntries(entries.map(({ command, reply }) => [command, reply]));
  expect(replies).toMatchObject({ blpop: '["queue", "a"]', rpush: '(integer) 1', get: '"faked"' });
  expect(replies.del).toBeUndefined();
  await all.close();
});

test('an error that takes no text is left alone, and the explanation is printed', async () => {
  const all = new TestFixtures(() => 'a test');
  await (await all.redis()).set('k', 'v');
  const error = Object.freeze(new Error('frozen'));
  const before = process.stderr.write;
  let printed = '';
  process.stderr.write = ((text: string) => {
    printed += text;
    return true;
  }) as typeof before;
  try {
    await failedWith(all, error);
  } finally {
    process.stderr.write = before;
  }
  expect(error.message).toBe('frozen');
  expect(printed).toContain('SET k v -> OK');
});
