/** What stories say of queues and lines: work that is given twice, tokens in lists, places that nobody gives back or that are lost. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore } from '../../explore/index.ts';
import { type Client, none, storyOf } from './told.ts';

/** Takes mails from a queue. @param pop the request that takes one */
const mailing =
  (pop: (session: ClientSession) => Promise<string | undefined>): Client =>
  async (session) => {
    const { name, redis, resource, sleep, signal } = session;
    if (name === 'A') await redis.rpush('mails', 'welcome').catch(none);
    for (let i = 0; i < 8 && !signal.aborted; i++) {
      const mail = await pop(session);
      if (mail !== undefined) {
        const sent = resource(`mail ${mail}`, { once: true }).enter();
        await sleep(60);
        sent.write();
        sent.leave();
      }
      await sleep(40);
    }
  };

test.each<[string, Client]>([
  ['LPOP', mailing(async ({ redis }) => (await redis.lpop('mails').catch(none)) ?? undefined)],
  ['BLPOP', mailing(async ({ redis }) => (await redis.blpop('mails', 0.1).catch(none))?.[1])],
  [
    'LMOVE',
    mailing(
      async ({ redis }) => (await redis.lmove('mails', 'busy', 'LEFT', 'RIGHT').catch(none)) ?? undefined,
    ),
  ],
])('work that was put into a queue twice is told so, after %s', async (_, client) => {
  const text = 'connection-reset@A.RPUSH.mails.1.executed/A=~RPUSH';
  const story = await storyOf(client, 'A,B', text);
  expect(story).toContain(
    "A's RPUSH was sent again after a lost reply, and put welcome into the queue again",
  );
  expect(story).toContain('at fault: the code of A: its RPUSH');
});

test('work that a message tells all is no fault of one client', async () => {
  const listening = async ({ name, redis, connect, resource, sleep }: ClientSession): Promise<void> => {
    const own = connect();
    own.on('message', (_: string, job: string) => {
      const done = resource(job, { once: true }).enter();
      done.write();
      done.leave();
    });
    await own.subscribe('jobs');
    await sleep(50);
    if (name === 'A') await redis.publish('jobs', 'mail');
    await sleep(50);
    own.disconnect();
  };
  const story = await storyOf(listening, 'A,B', '');
  expect(story).toContain('a message on jobs goes to all that listen');
});

/** Stands in a line that is a list, and goes in when it is first. */
async function lining({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> {
  await redis.rpush('line', name);
  while ((await redis.lindex('line', 0).catch(none)) !== name) {
    if (signal.aborted) return;
    await sleep(30);
  }
  resource('stock').enter().leave();
  await redis.lrem('line', 1, name).catch(none);
}

test.each([
  [
    'died',
    'client-death@B.RPUSH.line.1.answered/B',
    /Nobody gets line: B took it with RPUSH, .*, and B died/,
  ],
  [
    'was refused',
    'misconf@B.leaves.stock.1/redis-1/300',
    /Nobody gets line: B took it .* answered MISCONF when it gave it back/,
  ],
  ['stands there twice', 'lost-reply@A.start.1/B', /RPUSH was executed twice/],
])('a line that is closed by a client that %s', async (_, fault, told) => {
  const text = fault.startsWith('lost-reply') ? 'lost-reply@B.RPUSH.line.1.executed/B=~RPUSH' : fault;
  expect(await storyOf(lining, 'A,B', text)).toMatch(told);
});

/** Takes jobs from a sorted set, whose scores say until when a job is its taker's. */
function takingJobs(visibility: number): Client {
  const TAKE = `local t = redis.call('time') local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local due = redis.call('zrangebyscore', KEYS[1], '-inf', now, 'LIMIT', 0, 1)
    if #due == 0 then return false end
    redis.call('zadd', KEYS[1], now + tonumber(ARGV[1]), due[1]) return due[1]`;
  return async ({ name, redis, resource, sleep, signal }) => {
    if (name === 'A') await redis.zadd('jobs', 'NX', 0, 'j1', 0, 'j2', 0, 'j3').catch(none);
    for (let i = 0; i < 12 && !signal.aborted; i++) {
      const job = await redis.eval(TAKE, 1, 'jobs', visibility).catch(none);
      if (job === null) await sleep(40);
      else {
        const inside = resource(`job ${job}`).enter();
        await sleep(150);
        inside.write();
        inside.leave();
        await redis.zrem('jobs', `${job}`).catch(none);
      }
    }
  };
}

test('a job is given again when its time in a sorted set is over, and not by the end of another job', async () => {
  const common: Omit<ExploreOptions, 'client'> = {
    ...{ name: 'jobs', topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['client-pause'], promises: ['mutual-exclusion'], budget: { worlds: 30 } },
  };
  const broken = await explore({ ...common, client: takingJobs(100) });
  const [found] = broken.findings;
  expect(found?.story).toMatch(/[A-C]'s lease ended at [\d.,]+ ms, although nothing hindered [A-C]\./);
  expect(found?.story).toMatch(/at fault: the code of [A-C], whose lease is shorter than its work/);
  const told = [...broken.findings, ...broken.accepted].map(({ story }) => story.split('\n')[1]);
  expect(told.filter((sentence) => !/lease ended at/.test(sentence ?? ''))).toEqual([]);
  const { findings, accepted } = await explore({ ...common, client: takingJobs(1000) });
  expect(findings).toEqual([]);
  expect(accepted.map(({ story }) => story).join()).not.toContain('ZREM let another in');
});

test('a second token in a list is told with the request that put it there', async () => {
  const client: Client = async ({ name, redis, connect, resource, sleep }) => {
    if (name === 'A') await redis.lpush('tokens', 't').catch(none);
    const waiting = connect();
    for (let round = 0; round < 2; round++) {
      if ((await waiting.blpop('tokens', 1).catch(none)) !== null) {
        const inside = resource('file').enter();
        await sleep(150);
        inside.leave();
      }
      await redis.lpush('tokens', 't').catch(none); // Also without a token to give back.
    }
  };
  const { findings } = await explore({
    ...{ name: 'tokens', client, topology: { replicas: 0 }, faults: ['busy', 'client-pause'] },
    ...{ promises: ['mutual-exclusion'], budget: { worlds: 60 } },
  });
  expect(findings.length).toBeGreaterThan(0);
  for (const { story } of findings) {
    expect(story).toMatch(/[A-C]'s LPUSH (?:was sent again .*, and )?put t into the queue again\./);
    expect(story).toContain('puts t into the queue again');
  }
});

test('a place in a line that a restart lost is at fault, and not the client that was first', async () => {
  const client: Client = async ({ name, redis, resource, sleep, signal }) => {
    await redis.zadd('line', Date.now(), name).catch(none);
    for (;;) {
      if (signal.aborted) return;
      const [head] = await redis.zrange('line', '0', '0').catch((): string[] => []);
      if (head === name) break;
      await sleep(40);
    }
    const inside = resource('file').enter();
    await sleep(120);
    inside.leave();
    await redis.zrem('line', name).catch(none);
  };
  const { findings } = await explore({
    ...{ name: 'line', client, topology: { replicas: 0 }, faults: ['restart-empty'] },
    ...{ promises: ['everyone-served'], budget: { worlds: 40 } },
  });
  expect(findings[0]?.story).toMatch(/The restart lost an acknowledged write: [A-C]'s zadd line\./);
  expect(findings.map(({ story }) => story).join('\n')).not.toContain('sent a release that did not free it');
});

test('the claim of an entry from a consumer that a pause holds up is a limit, and that from one at work is not', async () => {
  const consumer =
    (idle: number) =>
    async ({ name, redis, sleep, signal, resource }: ClientSession): Promise<void> => {
      await redis.xgroup('CREATE', 'jobs', 'g', '0', 'MKSTREAM').catch(none);
      if (name === 'A') await redis.xadd('jobs', '1-0', 'n', 1).catch(none);
      for (let i = 0; i < 10 && !signal.aborted; i++) {
        const claimed = (
          idle === Infinity ? null : await redis.xautoclaim('jobs', 'g', name, idle, '0').catch(none)
        ) as never;
        const read = (await redis
          .xreadgroup('GROUP', 'g', name, 'STREAMS', 'jobs', '>')
          .catch(none)) as never;
        const [id] = (claimed?.[1]?.[0] ?? read?.[0]?.[1]?.[0] ?? []) as string[];
        await sleep(40);
        if (id === undefined) continue;
        const work = resource('job').enter();
        await sleep(100);
        work.write();
        work.leave();
        await redis.xack('jobs', 'g', id).catch(none);
      }
    };
  const common: Omit<ExploreOptions, 'client'> = {
    ...{ name: 'claims', topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['client-pause'], promises: ['mutual-exclusion'], budget: { worlds: 60 } },
  };
  const held = await explore({ ...common, client: consumer(300) });
  expect([held.findings, held.accepted.length > 0]).toEqual([[], true]);
  for (const idle of [0, 60]) {
    const { findings } = await explore({ ...common, client: consumer(idle), budget: { worlds: 2 } });
    expect(findings[0]?.story).toMatch(/whose XAUTOCLAIM takes an entry from a consumer/);
  }
  // A worker that starts takes over what others had, whether or not they are at work.
  const starting =
    (idle: number): Client =>
    async (session) => {
      const { name, redis, sleep } = session;
      if (name !== 'A') await sleep(400);
      if (name !== 'B') return consumer(Infinity)(session);
      const claimed = (await redis.xautoclaim('jobs', 'g', name, idle, '0').catch(none)) as never;
      if (claimed?.[1]?.[0] === undefined) return;
      const work = session.resource('job').enter();
      work.write();
      work.leave();
    };
  const over = await explore({ ...common, clients: 2, client: starting(0) });
  expect([over.findings.length > 0, over.accepted]).toEqual([true, []]);
  const after = await explore({ ...common, clients: 2, client: starting(300) });
  expect([after.findings, after.accepted.length > 0]).toEqual([[], true]);
});
