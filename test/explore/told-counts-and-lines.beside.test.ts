/** What stories say of counted permits, leases that readers share, lines, two locks, renewals of another's lock, and lost updates. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore } from '../../explore/index.ts';
import { type Client, none, storyOf as storyIn } from './told.ts';

/** The story of one world with a single server. */
const storyOf = (client: Client, clients: string, faults: string): Promise<string> =>
  storyIn(client, clients, faults, { topology: { replicas: 0 } });

const RENEW =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";
const GIVE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** Asks until the reply is 1. Returns false when the client is told to end. */
async function untilOne(
  { sleep, signal }: ClientSession,
  ask: () => Promise<unknown>,
  every = 40,
): Promise<boolean> {
  while ((await ask().catch(none)) !== 1) {
    if (signal.aborted) return false;
    await sleep(every);
  }
  return true;
}

test('a permit that is given back twice is told with the client that did so, and no lock is overwritten', async () => {
  const TAKE =
    "local n = tonumber(redis.call('get',KEYS[1])) if n > 0 then redis.call('decr',KEYS[1]) return 1 end return 0";
  const story = await storyOf(
    async (session) => {
      const { name, redis, resource, sleep } = session;
      await redis.set('permits', 2, 'NX');
      // B gives back its own permit after A has given back one twice.
      if (name === 'D') await sleep(145);
      for (let round = 0; round < (name === 'B' ? 2 : 1); round++) {
        if (!(await untilOne(session, () => redis.eval(TAKE, 1, 'permits')))) return;
        const call = resource('api', { permits: 2 }).enter();
        await sleep({ A: 60, B: 130 }[name] ?? 300);
        call.leave();
        await redis.incr('permits');
        if (name === 'A') await redis.incr('permits');
      }
    },
    'A,B,C,D',
    '',
  );
  expect(story).toContain("more than there are permits: A's INCR let another in.");
  expect(story).toContain('at fault: the code of A: its INCR');
  expect(story).not.toContain('overwr');
});

/** Readers have fields in one hash, whose lease each of them sets; C writes. */
async function sharing(session: ClientSession): Promise<void> {
  const READ = `if redis.call('hget',KEYS[1],'mode')=='w' then return 0 end redis.call('hset',KEYS[1],'mode','r',ARGV[1],1)
    redis.call('pexpire',KEYS[1],ARGV[2]) return 1`;
  const WRITE = `if redis.call('exists',KEYS[1])==1 then return 0 end redis.call('hset',KEYS[1],'mode','w',ARGV[1],1)
    redis.call('pexpire',KEYS[1],ARGV[2]) return 1`;
  const { name, redis, resource, sleep } = session;
  const isReader = name !== 'C';
  await sleep({ A: 1, B: 60 }[name] ?? 100);
  const script = isReader ? READ : WRITE;
  if (!(await untilOne(session, () => redis.eval(script, 1, 'rw', name, name === 'B' ? 200 : 900)))) return;
  const doc = resource('doc').enter({ shared: isReader });
  await sleep(name === 'B' ? 50 : 500);
  doc.leave();
  await redis.hdel('rw', name).catch(none);
}

test('a lease that readers share is ended by the reader that shortened it, by the clock or by a restart, and by no release', async () => {
  const shortened = await storyOf(sharing, 'A,B,C', '');
  expect(shortened).toMatch(/B's script \w+ shortened A's lease, which ended at [\d.]+ ms\./);
  expect(shortened).toMatch(/at fault: the code of B: its script/);
  const jump = await storyOf(sharing, 'A,B,C', 'server-clock-jump@A.enters.doc.1/redis-1//990=A');
  expect(jump).toContain('the clock of redis-1 jumps by 990 ms, which ended A');
  const lost = await storyOf(sharing, 'A,B,C', 'restart-empty@B.leaves.doc.1+5/redis-1/20=A');
  expect(lost).toContain("A's lock was lost by the restart of redis-1");
});

test('work that a starting worker moves back from the list of those at work is told so', async () => {
  const client: Client = async ({ name, redis, resource, sleep }) => {
    if (name === 'A') await redis.rpush('jobs', 'j1');
    else await sleep(50);
    while ((await redis.lmove('busy', 'jobs', 'RIGHT', 'LEFT')) !== null);
    const job = await redis.lmove('jobs', 'busy', 'LEFT', 'RIGHT');
    if (job === null) return;
    const work = resource(`job ${job}`, { once: true }).enter();
    await sleep(200);
    work.write();
    work.leave();
  };
  const story = await storyOf(client, 'A,B', '');
  expect(story).toContain("B's LMOVE put j1 into the queue again");
  expect(story).toContain('at fault: the code of B: its LMOVE');
});

test('a renewal that compares no token, and renews the lock of another, is no limit of leases', async () => {
  const client =
    (isCompared: boolean): Client =>
    async (session) => {
      const { name, redis, resource, sleep } = session;
      const token = `${name}:${Math.random()}`;
      const take = async () => ((await redis.set('lock', token, 'PX', 500, 'NX')) === 'OK' ? 1 : 0);
      if (!(await untilOne(session, take, 30))) return;
      const inside = resource('doc').enter();
      for (let i = 0; i < 5; i++) {
        await sleep(100);
        const asked = isCompared ? redis.eval(RENEW, 1, 'lock', token, 500) : redis.pexpire('lock', 500);
        if ((await asked.catch(none)) !== 1) break;
      }
      inside.leave();
      await redis.eval(GIVE, 1, 'lock', token).catch(none);
    };
  const common: Omit<ExploreOptions, 'client'> = {
    ...{ name: 'renewal', topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['restart-empty'], promises: ['mutual-exclusion'], budget: { worlds: 40 } },
  };
  const { findings } = await explore({ ...common, client: client(false) });
  expect(findings[0]?.story).toMatch(
    /and ([A-C]) went on, because its PEXPIRE renewed [A-C]'s lock\.[\s\S]*at fault: the code of \1: its PEXPIRE/,
  );
  const sound = await explore({ ...common, client: client(true) });
  expect([sound.findings, sound.accepted.length > 0]).toEqual([[], true]);
});

test('two clients that wait for the locks of each other are told so, and none has left its lock', async () => {
  const client: Client = async (session) => {
    const { name, redis, resource, sleep } = session;
    const locks = name === 'B' ? ['y', 'x'] : ['x', 'y'];
    if (name === 'C') resource('report').enter().leave();
    if (name === 'C') return;
    const renewals: NodeJS.Timeout[] = [];
    for (const lock of locks) {
      const take = async () => ((await redis.set(lock, name, 'PX', 400, 'NX')) === 'OK' ? 1 : 0);
      if (!(await untilOne(session, take))) break;
      renewals.push(setInterval(() => void redis.eval(RENEW, 1, lock, name, 400).catch(none), 120));
      await sleep(20);
    }
    if (renewals.length === 2) resource('transfer').enter().leave();
    for (const each of renewals) clearInterval(each);
    for (const lock of locks) await redis.eval(GIVE, 1, lock, name).catch(none);
  };
  const { findings, notRepeatable } = await explore({
    ...{ name: 'two locks', client, topology: { replicas: 0 }, promises: ['everyone-served'] },
    budget: { worlds: 3 },
  });
  expect([findings.length, notRepeatable]).toEqual([1, undefined]);
  expect(findings[0]?.story).toContain(
    'Nobody gets x: A took it with SET NX, and A waits for y, which B has, and B waits for x, which A has.',
  );
  expect(findings[0]?.story).toContain('at fault: the code, which takes locks in different orders');
});

test('a client that gives up waiting, and stays in the line, is found without any fault', async () => {
  const TAKE = `if redis.call('zrange',KEYS[1],0,0)[1] ~= ARGV[1] then return 0 end
    if redis.call('set',KEYS[2],ARGV[1],'PX',700,'NX') then redis.call('zrem',KEYS[1],ARGV[1]) return 1 end return 0`;
  const client =
    (leaves: boolean): Client =>
    async ({ name, redis, resource, sleep }) => {
      const token = `${name}:${Math.random()}`;
      await redis.zadd('line', 'NX', Date.now(), token);
      const until = performance.now() + (name === 'C' ? 60 : 3000);
      while ((await redis.eval(TAKE, 2, 'line', 'lock', token)) !== 1) {
        if (performance.now() > until && leaves) await redis.zrem('line', token);
        if (performance.now() > until) return;
        await sleep(30);
      }
      const inside = resource('doc').enter();
      await sleep(100);
      inside.leave();
      await redis.eval(GIVE, 1, 'lock', token);
    };
  const common: Omit<ExploreOptions, 'client'> = {
    name: 'line',
    topology: { replicas: 0 },
    budget: { worlds: 3 },
  };
  const [found] = (await explore({ ...common, client: client(false) })).findings;
  expect([found?.promise, found?.firstIn]).toEqual(['no-orphan', 1]);
  expect(found?.story).toMatch(
    /Nobody gets line: C took it with ZADD[\s\S]*at fault: the code of C, whose place in the line stays/,
  );
  expect((await explore({ ...common, client: client(true) })).findings).toEqual([]);
});

/** Counts in a transaction that looks whether anybody else has counted. */
const counting =
  (reads: boolean): Client =>
  async ({ redis, record, sleep }) => {
    for (let i = 0; i < 2; i++) {
      for (let isDone = false; !isDone; ) {
        const update = record('update');
        await redis.watch('count');
        const read = Number((await redis.get('count')) ?? 0);
        await sleep(20);
        const replies = await redis
          .multi()
          .set('count', read + 1)
          .exec();
        isDone = !reads || replies !== null;
        if (isDone) update.ok({ read, wrote: read + 1 });
        else update.failed();
      }
    }
  };

test('a lost update is told by what lost it: an EXEC that nobody read, a WATCH that went with its connection, or the server', async () => {
  const unread = await storyOf(counting(false), 'A,B', '');
  expect(unread).toContain("B's EXEC was answered nil, and B went on.");
  expect(unread).toContain('at fault: the code of B, which does not look at the reply');
  const { findings, accepted } = await explore({
    ...{ name: 'counting', client: counting(true), topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['lost-request', 'restart-empty'], promises: ['no-lost-update'], budget: { worlds: 60 } },
  });
  expect(findings.map(({ sentence }) => sentence).join('\n')).toMatch(/another connection than its WATCH/);
  expect(accepted[0]?.story).toMatch(/the restart of redis-1 lost what [A-C] had written\./);
});

test('an update under a lock is lost by a limit of leases only if its lease ended while a fault held its client up', async () => {
  const updating =
    (lease: number, how: 'looks' | 'goes on' | 'ignores' | 'shortens'): Client =>
    async (session) => {
      const { name, redis, record, sleep } = session;
      for (let i = 0; i < 2; i++) {
        const token = `${name}:${Math.random()}`;
        let asked = 0;
        const take = async (): Promise<number> => {
          asked = performance.now();
          return (await redis.set('lock', token, 'PX', lease, 'NX')) === 'OK' ? 1 : 0;
        };
        if (!(await untilOne(session, take))) return;
        if (how === 'shortens') setTimeout(() => void redis.pexpire('lock', 20).catch(none), 300);
        const isOver = performance.now() - asked > lease;
        if (!isOver || how === 'goes on') {
          const update = record('update');
          const read = Number((await redis.get('count')) ?? 0);
          await sleep(250);
          if (how === 'ignores') await redis.eval(RENEW, 1, 'lock', token, lease).catch(none);
          await redis.set('count', read + 1);
          update.ok({ read, wrote: read + 1 });
        }
        await redis.eval(GIVE, 1, 'lock', token).catch(none);
      }
    };
  const common: Omit<ExploreOptions, 'client'> = {
    ...{ name: 'updates', topology: { replicas: 0 }, accept: ['lease-limits'], faults: ['client-pause'] },
    ...{ promises: ['no-lost-update'], budget: { worlds: 100 } },
  };
  const sound = await explore({ ...common, client: updating(1000, 'looks') });
  expect([sound.findings, sound.accepted.length > 0]).toEqual([[], true]);
  expect(sound.accepted[0]?.story).toMatch(/[A-C]'s lease of lock ended at [\d.,]+ ms\./);
  const late = (await explore({ ...common, client: updating(1000, 'goes on') })).findings;
  expect(late[0]?.story).toMatch(
    /([A-C])'s lease of lock ended at [\d.,]+ ms, before \1 read\.[\s\S]*the code of \1, which does not look at the time/,
  );
  const short = (await explore({ ...common, client: updating(100, 'looks') })).findings;
  expect(short[0]?.story).toMatch(
    /([A-C])'s lease of lock ended at 1\d\d ms, although nothing hindered \1\.[\s\S]*\1, whose lease is shorter than its work/,
  );
  for (const how of ['ignores', 'shortens'] as const) {
    const { findings } = await explore({ ...common, client: updating(1000, how) });
    expect(findings.length).toBeGreaterThan(0);
  }
});
