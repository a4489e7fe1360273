/** What stories say of clients' clocks in leases and fences, fields with leases, transactions, counters and renewals. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { ourReplicated } from '../../bench/recall/ours.ts';
import { type ClientSession, explore } from '../../explore/index.ts';
import { type Client, none, storyOf } from './told.ts';

const GIVE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const LEASE = 1000;

/** Takes a lock by some request, works, and gives it back. @param own the token; by default a random one */
function locking(
  take: (session: ClientSession, token: string) => Promise<boolean>,
  give: string,
  key = 'k',
  own?: string,
) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, sleep, signal } = session;
    const token = own ?? `${name}:${Math.random()}`;
    while (!(await take(session, token).catch(() => false))) {
      if (signal.aborted) return;
      await sleep(40);
    }
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.eval(give, 1, key, token).catch(none);
  };
}

const byOwnClock = locking(
  async ({ redis }, token) => (await redis.set('k', token, 'PXAT', Date.now() + LEASE, 'NX')) === 'OK',
  GIVE,
);

test("a lease that ends at a time of its holder's clock is the code's fault when that clock is wrong", async () => {
  const text = 'client-clock-jump@B.SET.k.4.answered/B//-1100=A';
  const story = await storyOf(byOwnClock, 'A,B,C', text);
  expect(story).toMatch(/B's lease ended at .*, a time that its SET NX had named by its own clock/);
  expect(story).toContain('at fault: the code of B, which names the end of its lease by its own clock');
  const { findings, accepted } = await explore({
    ...{ name: 'own clock', client: byOwnClock, topology: { replicas: 0 }, accept: ['lease-limits'] },
    ...{ faults: ['client-clock-jump'], promises: ['mutual-exclusion'], budget: { worlds: 30 } },
  });
  expect([findings.length, accepted.length]).toEqual([1, 0]);
});

/** Takes a field of a hash, which has a lease of its own. */
const field = locking(
  async ({ redis }, token) => {
    const script =
      "if redis.call('hsetnx',KEYS[1],'stock',ARGV[1])==1 then redis.call('hpexpire',KEYS[1],ARGV[2],'FIELDS',1,'stock') return 1 end return 0";
    return (await redis.eval(script, 1, 'locks', token, LEASE)) === 1;
  },
  "if redis.call('hget',KEYS[1],'stock')==ARGV[1] then return redis.call('hdel',KEYS[1],'stock') end return 0",
  'locks',
);
const hsetex = locking(
  async ({ redis }, token) =>
    (await redis.call('hsetex', 'locks', 'FNX', 'PX', LEASE, 'FIELDS', 1, 'stock', token)) === 1,
  "if redis.call('hget',KEYS[1],'stock')==ARGV[1] then return redis.call('hdel',KEYS[1],'stock') end return 0",
  'locks',
);

test.each([
  ['HSETNX and HPEXPIRE', field],
  ['HSETEX', hsetex],
])('the lease of a field by %s ends, and is not evicted', async (_, client) => {
  const jump = await storyOf(client, 'A,B', 'server-clock-jump@A.enters.stock.1/redis-1//1100=A');
  expect(jump).toContain("the clock of redis-1 jumps by 1100 ms, which ended A's lease");
  expect(jump).toMatch(/granted until 1,00\d ms/);
  const pause = await storyOf(client, 'A,B', 'client-pause@A.enters.stock.1/A/1500=A');
  expect(pause).toMatch(/B got the lock while A was inside: A's lease ended at 1,00\d ms\./);
});

test('a lock that a transaction takes is lost by a restart', async () => {
  const elected = locking(async ({ redis }, token) => {
    await redis.watch('k');
    if ((await redis.get('k')) !== null) return false;
    return (await redis.multi().set('k', token, 'PX', LEASE).exec()) !== null;
  }, GIVE);
  const story = await storyOf(elected, 'A,B', 'restart-empty@A.enters.stock.1/redis-1/20=A');
  expect(story).toContain("A's lock was lost by the restart of redis-1");
  expect(story).toMatch(/SET k A\S* PX 1000 on redis-1: granted until/);
});

test('fences that are times of a clock are at fault, and no release', async () => {
  const timed = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    const take =
      "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',1000) then local t=redis.call('time') return t[1]*1000+math.floor(t[2]/1000) end return 0";
    let fence = 0;
    while ((fence = Number(await redis.eval(take, 1, 'k', name).catch(none))) === 0) await sleep(40);
    const inside = resource('store').enter({ fence });
    await sleep(200);
    await inside.send().catch(none);
    inside.leave();
    await redis.eval(GIVE, 1, 'k', name).catch(none);
  };
  const story = await storyOf(timed, 'A,B', 'server-clock-jump@A.enters.store.1/redis-1//-1100=A');
  expect(story).toMatch(/although A had got \d+ before: the clock of redis-1 jumps by -1100 ms\./);
  expect(story).toContain('at fault: the code, whose fences are times of a clock');
});

test('a counter that counts one request twice is told as such', async () => {
  const latch = async ({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> => {
    await redis.setnx('left', 3);
    const part = resource('table').enter({ shared: true });
    await sleep({ A: 100, B: 200, C: 350 }[name] ?? 0);
    part.write();
    part.leave();
    await redis.decr('left');
    if (name !== 'A') return;
    while (Number(await redis.get('left').catch(() => 1)) > 0 && !signal.aborted) await sleep(25);
    resource('table').enter().leave();
  };
  const story = await storyOf(latch, 'A,B,C', 'lost-reply@A.leaves.table.1/A=B+C~DECR');
  expect(story).toContain("A's DECR was sent again after a lost reply, and let another in");
  expect(story.match(/DECR left on redis-1 is executed, but the reply is lost/g)).toHaveLength(1);
});

test('a holder that went on although its renewal had found nothing is at fault, also after a restart', async () => {
  const beating = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    // B asks only after A's renewal has found nothing.
    if (name === 'B') await sleep(600);
    while ((await redis.set('id', name, 'PX', 400, 'NX').catch(none)) !== 'OK') await sleep(50);
    const inside = resource('id').enter();
    for (let i = 0; i < 12; i++) {
      await sleep(80);
      inside.write();
      await redis.pexpire('id', 400).catch(none);
    }
    inside.leave();
    await redis.eval(GIVE, 1, 'id', name).catch(none);
  };
  const story = await storyOf(beating, 'A,B', 'restart-empty@A.writes.id.3/redis-1/20=A');
  expect(story).toContain('A went on although its PEXPIRE was answered 0');
  expect(story).toContain('at fault: the code of A, which does not look at the reply');
});

test('permits that are counted and taken by two requests are granted too often, and nobody goes in without a grant', async () => {
  const counted = async ({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> => {
    while (Number(await redis.scard('in').catch(() => 9)) >= 2) {
      if (signal.aborted) return;
      await sleep(30);
    }
    await redis.sadd('in', name).catch(none);
    const inside = resource('pool', { permits: 2 }).enter();
    await sleep(200);
    inside.leave();
    await redis.srem('in', name).catch(none);
  };
  const story = await storyOf(counted, 'A,B,C', '');
  expect(story).toContain('more than there are permits: all grants stand.');
  expect(story).toContain('at fault: the code, whose SADD grants more permits than there are');
});

test('a release that finds its own token in the lock of another says that the tokens are the same', async () => {
  const same = locking(
    async ({ redis }, token) => (await redis.set('k', token, 'PX', LEASE, 'NX')) === 'OK',
    ...([GIVE, 'k', 'job'] as const),
  );
  const story = await storyOf(same, 'A,B', 'restart-empty@A.enters.stock.1/redis-1/20=A', {
    promises: ['released-by-holder'],
  });
  expect(story).toMatch(/A's script \w+ deleted B's lock, which has the same token/);
  expect(story).toContain('prevented by: a token that no other acquisition has, such as a random one');
  expect(story).toMatch(/^scripts: \w{8} sends GET and DEL$/m);
});

test('a lock that its client renews after it has left says so', async () => {
  const renewing = async ({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> => {
    while ((await redis.set('k', name, 'PX', LEASE, 'NX').catch(none)) !== 'OK') {
      if (signal.aborted) return;
      await sleep(40);
    }
    const renew =
      "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],1000) end return 0";
    const timer = setInterval(() => void redis.eval(renew, 1, 'k', name).catch(none), 300);
    const inside = resource('stock').enter();
    await sleep(100);
    inside.leave();
    await redis.get('price');
    clearInterval(timer);
    await redis.eval(GIVE, 1, 'k', name).catch(none);
  };
  const story = await storyOf(renewing, 'A', 'busy@A.enters.stock.1/redis-1/200=A');
  expect(story).toContain('Nobody gets k: A took it with SET NX, and A renews it and never gives it back.');
  expect(story).toContain('at fault: the code of A, which renews a lock that it has left');
});

/** Takes a lock that a replica must have. @param how the options of the connection, and whether WAIT goes over another one */
const confirmed =
  (how: Parameters<ClientSession['connect']>[0], isApart = false): Client =>
  async ({ name, connect, resource, sleep, signal }) => {
    const redis = connect(how);
    const other = isApart ? connect(how) : redis;
    for (const each of [redis, other]) each.on('error', () => {});
    const token = `${name}:${Math.random()}`;
    let has = false;
    while (!has && !signal.aborted) {
      has = (await redis.set('k', token, 'PX', LEASE, 'NX').catch(none)) === 'OK';
      has &&= ((await other.wait(1, 200).catch(none)) ?? 0) >= 1;
      if (!has) await redis.eval(GIVE, 1, 'k', token).catch(none);
      if (!has) await sleep(50);
    }
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.eval(GIVE, 1, 'k', token).catch(none);
    for (const each of [redis, other]) each.disconnect();
  };

test('a WAIT that is sent again, or over another connection, confirms nothing, and is no limit of leases', async () => {
  const crash = 'failover-behind@A.SET.k.1.executed/redis-1/20/100/crash';
  const again = await storyOf(confirmed({}), 'A,B', crash, { topology: { replicas: 2 } });
  expect(again).toContain('its WAIT was sent again on a new connection, which had written nothing');
  expect(again).toMatch(/WAIT 1 200 on redis-\d is sent again on a new connection, and is answered 1/);
  expect(again).toContain('at fault: the code of A, whose WAIT says nothing about its lock');
  const explored = async (client: Client): Promise<readonly string[]> => {
    const { findings, accepted } = await explore({
      ...{ name: 'confirmed', client, topology: { replicas: 2 }, accept: ['lease-limits'] },
      ...{ faults: ['failover-behind'], promises: ['mutual-exclusion'], budget: { worlds: 40 } },
    });
    return [...findings, ...accepted].map(({ reason }) => reason);
  };
  const [lost] = await explored(confirmed({}));
  expect(lost).toContain('the grant was lost by a failover; confirmed by WAIT on another connection');
  const once = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
  expect(await explored(confirmed(once))).toEqual([]);
  expect(await explored(confirmed(once, true))).toEqual([lost]);
});

test('what is closed since a refused write that nobody repeats is told with that write', async () => {
  const handing = async ({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> => {
    if (name === 'A') await redis.set('token', 'free').catch(none);
    while ((await redis.getdel('token').catch(none)) === null) {
      if (signal.aborted) return;
      await sleep(40);
    }
    const inside = resource('stock').enter();
    await sleep(100);
    inside.leave();
    await redis.set('token', 'free').catch(none);
  };
  const story = await storyOf(handing, 'A,B', 'misconf@A.SET.token.1.sent/redis-1/300');
  expect(story).toContain("A's SET token free was answered MISCONF.");
  expect(story).toContain('at fault: the code of A, which does not send its SET again');
});

test('a request that is sent again and answered another error is not neglected', async () => {
  const moving = async ({ name, redis, resource, sleep, signal }: ClientSession): Promise<void> => {
    if ((await redis.set('made', 1, 'NX').catch(none)) === 'OK') await redis.set('free', 1).catch(none);
    while ((await redis.renamenx('free', `held:${name}`).catch(none)) !== 1) {
      if (signal.aborted) return;
      await sleep(40);
    }
    resource('stock').enter().leave();
    await redis.rename(`held:${name}`, 'free').catch(none);
  };
  const story = await storyOf(moving, 'A', 'read-only@A.SET.made.1.answered/redis-1/300');
  expect(story).toContain("A's SET free 1 was answered READONLY.");
});

test('a read-write lock that a restart has kept is not taken for the lock of the client that looks at it', async () => {
  const { sound } = ourReplicated(1).find(({ name }) => name.includes('(write)')) ?? {};
  const text = 'restart-disk@A.script-85732a.lock.1.executed/redis-1/20';
  expect(await storyOf(sound as Client, 'A,B', text)).toBe('told: no promise is broken');
});

test('a holder whose WAIT counted too few replicas is at fault, and no limit of leases', async () => {
  const unread: Client = locking(async ({ redis }, token) => {
    const got = (await redis.set('k', token, 'PX', LEASE, 'NX')) === 'OK';
    if (got) await redis.wait(1, 100).catch(none);
    return got;
  }, GIVE);
  const story = await storyOf(unread, 'A,B', 'failover-behind@B.SET.k.1.executed/redis-1/20/100/crash');
  expect(story).toMatch(
    /was lost by the failover to redis-2, .*, and A went in although its WAIT was answered 0\./,
  );
  expect(story).toMatch(/WAIT 1 100 on redis-2 is answered 0/);
  expect(story).toContain('prevented by: to go in only when WAIT counts enough replicas');
  const { findings } = await explore({
    ...{ name: 'unread', client: unread, faults: ['failover-behind'], accept: ['lease-limits'] },
    ...{ promises: ['mutual-exclusion'], budget: { worlds: 40 } },
  });
  expect(findings).toHaveLength(1);
});

test('a writer that looks at the readers, and then takes a key of its own, is told as such', async () => {
  const READ =
    "if redis.call('exists',KEYS[2])==1 then return 0 end redis.call('hset',KEYS[1],ARGV[1],1) redis.call('pexpire',KEYS[1],900) return 1";
  const page: Client = async ({ name, redis, sleep, signal, resource }) => {
    const writes = name === 'A';
    const take = async (): Promise<boolean> =>
      writes
        ? (await redis.hlen('r').catch(() => 1)) === 0 &&
          (await redis.set('w', name, 'PX', 900, 'NX').catch(none)) === 'OK'
        : (await redis.eval(READ, 2, 'r', 'w', name).catch(none)) === 1;
    while (!(await take())) {
      if (signal.aborted) return;
      await sleep(30);
    }
    const inside = resource('page').enter({ shared: !writes });
    await sleep(100);
    inside.leave();
    await (writes ? redis.del('w') : redis.hdel('r', name)).catch(none);
  };
  const story = await storyOf(page, 'A,B', '');
  expect(story).toMatch(/: A's HLEN had looked before B's script \w+ took the lock\./);
  expect(story).toMatch(/A +HLEN r on redis-1: the reply is 0/);
  expect(story).toContain('at fault: the code of A, which looks and takes in two requests');
});

test('a semaphore that counts refusals closes without any fault, and the refused client is at fault', async () => {
  const counted: Client = async ({ redis, sleep, signal, resource }) => {
    while (((await redis.incr('n').catch(none)) ?? 9) > 2) {
      if (signal.aborted) return;
      await sleep(40);
    }
    const inside = resource('pool', { permits: 2 }).enter();
    await sleep(150);
    inside.leave();
    await redis.decr('n').catch(none);
  };
  const { findings } = await explore({
    ...{ name: 'counted', client: counted, clients: 3, topology: { replicas: 0 }, faults: ['client-pause'] },
    ...{ accept: ['lease-limits'], budget: { worlds: 2 } },
  });
  const [{ sentence, cause, story } = { sentence: '', cause: '', story: '' }] = findings;
  expect(cause).toBe('no fault');
  expect(sentence).toMatch(
    /^Nobody gets n: C took it with INCR, which has no lease, and C counts itself when it is refused/,
  );
  expect(story).toContain('prevented by: a script that counts only while there is room');
});

test('a lock that other clients renew is told with them, also when a newcomer gets it in the end', async () => {
  const client: Client = async ({ name, redis, resource, sleep, signal }) => {
    for (const token of [`${name}0`, `${name}1`]) {
      while ((await redis.set('z', token, 'PX', 500, 'NX').catch(none)) !== 'OK') {
        if (signal.aborted) return;
        await sleep(30);
      }
      const timer = setInterval(() => void redis.pexpire('z', 500).catch(none), 150);
      const inside = resource('file').enter();
      await sleep(200);
      inside.leave();
      await redis.eval(GIVE, 1, 'z', token).catch(none);
      setTimeout(() => clearInterval(timer), 5000);
      await sleep(20);
    }
  };
  const { findings } = await explore({
    ...{ name: 'renewed', client, topology: { replicas: 0 }, faults: ['client-death'] },
    ...{ promises: ['no-orphan'], budget: { worlds: 30 } },
  });
  expect(findings[0]?.story).toContain('died while it had it, and other clients renew it');
  expect(findings[0]?.story).toContain(
    'at fault: the code of the clients that renew a lock which they do not have',
  );
});
