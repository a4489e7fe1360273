/** What stories say of programs that are no plain locks: limiters, jobs with marks, streams, queues, caches, terms of leaders. */
import '../../lab/router.ts';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { type Client, none, storyOf as storyIn } from './told.ts';

/** The story of one world with a single server. */
const storyOf = (client: Client, clients: string, faults: string): Promise<string> =>
  storyIn(client, clients, faults, { topology: { replicas: 0 } });

/** Calls in a window. @param compare how their number is compared with the limit of two */
const limiter =
  (compare: '<' | '<=') =>
  async ({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> => {
    const take = `local t = redis.call('time') local ms = t[1] * 1000 + math.floor(t[2] / 1000)
      redis.call('zremrangebyscore', KEYS[1], 0, ms - 400)
      if redis.call('zcard', KEYS[1]) ${compare} 2 then
        redis.call('zadd', KEYS[1], ms, ARGV[1]) redis.call('pexpire', KEYS[1], 400) return 1
      end return 0`;
    while ((await redis.eval(take, 1, 'window', `${name}:${Math.random()}`).catch(none)) !== 1) {
      if (signal.aborted) return;
      await sleep(40);
    }
    const call = resource('api', { permits: 2 }).enter();
    await sleep(300);
    call.write();
    call.leave();
  };

test('a limiter that is off by one grants too much, and the window of a key ends with its lease', async () => {
  const offByOne = await storyOf(limiter('<='), 'A,B,C', '');
  expect(offByOne).toContain('more than there are permits: all grants stand.');
  expect(offByOne).toMatch(/at fault: the code, whose script \w+ grants more permits than there are/);
  expect(offByOne).toMatch(/EVAL .* granted until 401 ms/);
  const jump = 'server-clock-jump@B.grant.api.1.executed/redis-1//440';
  const ended = await storyOf(limiter('<'), 'A,B,C', jump);
  expect(ended).toContain("the clock of redis-1 jumps by 440 ms, which ended A's lease");
  expect(ended).not.toContain('evict');
});

/** A leader whose term is read after the election, by requests of their own. */
async function termAfterElection({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  const token = `${name}:${Math.random()}`;
  while ((await redis.set('leader', token, 'PX', 600, 'NX').catch(none)) !== 'OK') {
    if (signal.aborted) return;
    await sleep(50);
  }
  await redis.incr('term').catch(none);
  const board = resource('board').enter({ fence: Number(await redis.get('term').catch(none)) });
  await sleep(200);
  await board.send().catch(none);
  board.leave();
}

test('two leaders with one term: the term is at fault, and not the clock of the first', async () => {
  const story = await storyOf(termAfterElection, 'B,C', 'client-pause@B.INCR.term.1.executed/B/650');
  expect(story).toMatch(/B's lease had ended at [\d.]+ ms, before it went in, and C's fence is the same\./);
  expect(story).toContain('at fault: the code, whose fences do not tell the two holders apart');
  const lost = await storyOf(termAfterElection, 'A,B', 'restart-empty@B.SET.leader.13.answered/redis-1/20');
  expect(lost).toContain('A and B both got fence 1 for board: the counter of fences was lost by the restart');
});

/** A job with a claim, and a mark that is set when it is done, whose errors nobody reads. */
async function marked({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  while (!signal.aborted) {
    await sleep(20);
    if ((await redis.exists('done').catch(() => 1)) === 1) {
      if ((await redis.get('done').catch(none)) !== null) return;
      continue;
    }
    if ((await redis.set('claim', name, 'PX', 900, 'NX').catch(none)) !== 'OK') continue;
    const work = resource('job', { once: true }).enter();
    await sleep(200);
    work.write();
    work.leave();
    await redis.set('done', 1).catch(none);
    await redis.del('claim').catch(none);
    return;
  }
}

test('a story of work that is done twice names the mark that was refused or lost', async () => {
  const refused = await storyOf(marked, 'A,B', 'out-of-memory@A.enters.job.1+100/redis-1/103=A');
  expect(refused).toContain("B did job after A had: A's SET done 1 was answered OOM.");
  expect(refused).toContain('answers OOM to A');
  expect(refused).toContain(
    'at fault: the code of A, which goes on although nobody has noted that its work is done',
  );
  const lost = await storyOf(marked, 'A,B', 'restart-empty@A.DEL.claim.1.answered/redis-1/20');
  expect(lost).toMatch(
    /B did job after A had: A's SET, which had been acknowledged, was lost by the restart/,
  );
  // A lease cannot keep it, but a mark can.
  const { findings, accepted } = await explore({
    ...{ name: 'marked', client: marked, topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['misconf'], promises: ['once'], budget: { worlds: 60 } },
  });
  expect([findings.length > 0, accepted]).toEqual([true, []]);
});

/** A consumer that claims what others have had for 200 ms. */
async function claiming({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  await redis.xgroup('CREATE', 'jobs', 'g', '0', 'MKSTREAM').catch(none);
  if (name === 'A') for (const i of [0, 1]) await redis.xadd('jobs', `1-${i}`, 'n', i).catch(none);
  for (let idle = 0; idle < 12 && !signal.aborted; idle++) {
    const claimed = (await redis.xautoclaim('jobs', 'g', name, 200, '0', 'COUNT', 1).catch(none)) as never;
    let entry = claimed?.[1]?.[0] as [string] | undefined;
    if (entry === undefined) {
      const read = (await redis
        .xreadgroup('GROUP', 'g', name, 'COUNT', 1, 'STREAMS', 'jobs', '>')
        .catch(none)) as never;
      entry = read?.[0]?.[1]?.[0] as [string] | undefined;
    }
    await sleep(40);
    if (entry === undefined) continue;
    const work = resource(`job ${entry[0]}`, { once: true }).enter();
    await sleep(100);
    work.write();
    work.leave();
    await redis.xack('jobs', 'g', entry[0]).catch(none);
  }
}

test('a story names the claim of an entry from a consumer at work, and no request about other entries', async () => {
  const story = await storyOf(claiming, 'A,B', 'client-pause@B.enters.job%201-0.1/B/600=B');
  expect(story).toMatch(/: A's XAUTOCLAIM gave A the entry 1-0, which B had\./);
  expect(story).toContain(
    'at fault: the code of A, whose XAUTOCLAIM takes an entry from a consumer that is still at work',
  );
  expect(story).not.toContain('lets another in');
  const refused = await storyOf(claiming, 'A,B', 'misconf@B.enters.job%201-0.1+50/redis-1/300=A+B');
  expect(refused).toMatch(/did job 1-0 \w+( \w+ had)?: B's XACK jobs g 1-0 was answered MISCONF\./);
});

/** Takes from a queue, and does not read how many it has removed. */
async function uncounted({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  if (name === 'A') await redis.zadd('due', 'NX', 1, 'mail');
  for (let i = 0; i < 4; i++) {
    const [mail] = await redis.zrangebyscore('due', 0, 9, 'LIMIT', 0, 1);
    if (mail !== undefined) {
      await redis.zrem('due', mail);
      resource(mail, { once: true }).enter().leave();
    }
    await sleep(30);
  }
}

test('a client that takes what another has taken is at fault, and not the other one', async () => {
  const story = await storyOf(uncounted, 'A,B,C', '');
  const [, first] = /(\w)\s+ZREM due mail on redis-1: the reply is 1/.exec(story) ?? [];
  const [, second] = /(\w) had no lock, because its ZREM was answered 0/.exec(story) ?? [];
  expect(first).toBeDefined();
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
  expect(story).toContain(`at fault: the code of ${second}, which goes in without a grant`);
});

/** A cache that one client fills, while the others wait for its message. */
async function flight({ name, redis, sleep, connect, resource }: ClientSession): Promise<void> {
  if ((await redis.get('value')) !== null) return;
  const own = connect();
  await own.subscribe('ready');
  const ready = new Promise((resolve) => own.on('message', resolve));
  if ((await redis.set('building', name, 'PX', 700, 'NX')) === 'OK') {
    const build = resource('rows').enter();
    await sleep(200);
    build.write();
    build.leave();
    await redis.set('value', 42, 'PX', 5000);
    await redis.publish('ready', 'value');
    await redis.del('building');
  } else await ready;
  own.disconnect();
}

test('the story of a client that waits in vain for a message says so, also after a restart that lost the lock', async () => {
  const waits = await storyOf(flight, 'A,B', 'connection-reset@B.SET.building.1.answered+99/B=A');
  expect(waits).toMatch(/B still waits .*: B waits for a message since its SUBSCRIBE ready of [\d.,]+ ms/);
  expect(waits).toContain('at fault: the code of B, which waits and does not look again');
  const restart = await storyOf(flight, 'A,B', 'restart-empty@A.leaves.rows.1/redis-1/20');
  expect(restart).not.toContain('release');
  expect(restart).toContain('B waits for a message since its SUBSCRIBE ready');
  const again = await storyOf(flight, 'A', 'connection-reset@A.SET.building.1.executed/A=~SET');
  expect(again).toContain('SET building A PX 700 NX on redis-1 is sent again, and executed again');
});

test('a new client that finds the value in the cache is not kept out until the value ends', async () => {
  const options: ExploreOptions = { name: 'warm', topology: { replicas: 0 }, client: flight };
  const { breaches } = await replay(
    options,
    '2:1:0:A:misconf@A.SET.value.1.executed/redis-1/350:000000000000',
  );
  expect(breaches).toEqual([]);
  const report = await explore({
    ...{ ...options, clients: 1, faults: ['misconf'], promises: ['no-orphan'] },
    budget: { worlds: 40, ms: Infinity },
  });
  expect(report.findings.map(({ story }) => story)).toEqual([]);
});

test('of a grant, a DEL and another grant in one microsecond, the DEL is blamed and no script', async () => {
  const take = "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0";
  const { findings } = await explore({
    ...{ name: 'deletes', clients: 4, seed: 5, budget: { worlds: 120 } },
    ...{ faults: ['node-pause'], promises: ['mutual-exclusion'], accept: ['lease-limits'] },
    async client({ redis, name, sleep, resource }) {
      while ((await redis.eval(take, 1, 'lock', name, 1000)) !== 1) await sleep(100);
      const inside = resource('stock').enter();
      await sleep(300);
      inside.leave();
      await redis.del('lock');
    },
  });
  expect(findings.length).toBeGreaterThan(0);
  for (const { sentence } of findings) expect(sentence).toMatch(/'s DEL deleted [A-D]'s lock/);
});

/** A lock that a timer renews by a script that is loaded when the server does not know it. Nobody looks at what the renewal answers. */
async function renewedByScript({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  const token = `${name}:${Math.random()}`;
  const renew = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 300) else return 0 end`;
  const sha = createHash('sha1').update(renew).digest('hex');
  const extend = () => redis.evalsha(sha, 1, 'stock:lock', token);
  while ((await redis.set('stock:lock', token, 'PX', 300, 'NX')) !== 'OK') {
    if (signal.aborted) return;
    await sleep(30);
  }
  const timer = setInterval(() => void extend().catch(() => redis.script('LOAD', renew).then(extend)), 200);
  const stock = resource('stock').enter();
  await sleep(600);
  await stock.send();
  clearInterval(timer);
  stock.leave();
}

test('a script that its client loads, and runs afterwards, has refused no renewal', async () => {
  const story = await storyOf(renewedByScript, 'A,B', 'client-pause@A.enters.stock.1/A/500=A');
  expect(story).toMatch(/A's lease ended at [\d.]+ ms/);
  expect(story).toMatch(/although its script \w+ was answered 0\./);
  expect(story).not.toContain('NOSCRIPT');
});

/** A lock that is free at 0. Its lease is set by a second request. */
async function counted({ redis, sleep, signal, resource }: ClientSession): Promise<void> {
  while ((await redis.incr('lock').catch(none)) !== 1) {
    if (signal.aborted) return;
    await sleep(30);
  }
  await redis.pexpire('lock', 300);
  const stock = resource('stock').enter();
  await sleep(80);
  await stock.send();
  stock.leave();
  await redis.del('lock');
}

test('a refused INCR overwrites no lock, and the client that counted the lock to 1 left it closed', async () => {
  const paused = await storyOf(counted, 'A,B', 'client-pause@A.enters.stock.1/A/500=A');
  expect(paused).toMatch(/after B had entered(?: and left)? it: A's lease ended at [\d.]+ ms\./);
  const died = await storyOf(counted, 'A,B', 'client-death@B.INCR.lock.4.executed/B///restart');
  expect(died).toContain(
    'Nobody gets lock: B took it with INCR, which has no lease, and B died while it had it.',
  );
});

/** A lock as a token in a list, which the first client puts there. */
async function tokenInList({ redis, sleep, resource }: ClientSession): Promise<void> {
  if ((await redis.set('init', 1, 'NX')) === 'OK') await redis.rpush('tokens', 't');
  if ((await redis.blpop('tokens', 2)) === null) return;
  const stock = resource('stock').enter();
  await sleep(80);
  await stock.send();
  stock.leave();
  await redis.rpush('tokens', 't');
}

test('a newcomer that waits for an element of a list is kept out by the client that took it, and by no mark', async () => {
  const died = await storyOf(tokenInList, 'B', 'client-death@B.BLPOP.tokens.1.executed/B///restart');
  expect(died).toContain(
    'Nobody gets tokens: B took it with BLPOP, which has no lease, and B died while it had it.',
  );
  expect(died).toContain('prevented by: BLMOVE, which keeps what was taken in a second list');
});

/** Two permits in a sorted set, by times of clients. */
async function ranked({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  for (let round = 0; round < 4 && !signal.aborted; await sleep(30)) {
    const now = Date.now();
    const replies = await redis
      .multi()
      .zremrangebyscore('pool', '-inf', now - 300)
      .zadd('pool', now, name)
      .zrank('pool', name)
      .exec();
    if (Number(replies?.[2]?.[1]) < 2) {
      const pool = resource('pool', { permits: 2 }).enter();
      await sleep(150);
      pool.write();
      pool.leave();
      round++;
    }
    await redis.zrem('pool', name);
  }
}

test('a permit in a sorted set ends when another client removes what is too old', async () => {
  const story = await storyOf(ranked, 'A,B,C,D', 'client-pause@A.enters.pool.1/A/900=A');
  expect(story).toMatch(/more than there are permits: A's lease ended at [\d.]+ ms\./);
  expect(story).not.toContain('no request of it took the lock');
});

/** A writer that goes on as a reader: one script moves the lock to another key. */
async function moved({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> {
  const token = `${name}:${Math.random()}`;
  const take =
    "if redis.call('exists', KEYS[1], KEYS[2]) > 0 then return 0 end redis.call('set', KEYS[1], ARGV[1], 'px', 300) return 1";
  const move =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('del', KEYS[1]) redis.call('set', KEYS[2], ARGV[1], 'px', 300) return 1";
  while ((await redis.eval(take, 2, 'writer', 'reader', token)) !== 1) {
    if (signal.aborted) return;
    await sleep(30);
  }
  const page = resource('page').enter();
  await sleep(50);
  await redis.eval(move, 2, 'writer', 'reader', token);
  await sleep(100);
  await page.send();
  page.leave();
  await redis.del('reader');
}

test('a lock that one request moves to another key is not given back', async () => {
  const story = await storyOf(moved, 'A,B', 'client-pause@A.enters.page.1+60/A/600=A');
  expect(story).toMatch(/A's lease ended at [\d.]+ ms/);
  expect(story).not.toContain('gave back');
});
