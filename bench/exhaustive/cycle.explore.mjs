/** What `npm run explore:exhaustive` explores: three clients that acquire, work and release, with a token and with a fence. */
import { createLocks } from 'lostlock/locks';

/** Milliseconds. */
const [LEASE, WORK, RETRY] = [1000, 250, 50];
const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

async function work({ sleep, resource }, options) {
  const inside = resource('stock').enter(options);
  await sleep(WORK);
  inside.write();
  inside.leave();
}

/** A key with a token, which a script releases: a failover that is behind breaks it. */
export const token = {
  name: 'token and script',
  clients: 3,
  client: async (session) => {
    const { name, redis, sleep } = session;
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX')) !== 'OK') await sleep(RETRY);
    await work(session, {});
    await redis.eval(RELEASE, 1, 'lock', name);
  },
};

/** Our fenced lock, which waits for its replica; the resource checks the fence. */
export const fenced = {
  name: "fenced lock, fence: 'clock', replicas: 1",
  clients: 3,
  promises: ['mutual-exclusion', 'no-orphan', 'progress', 'contended'],
  client: async (session) => {
    const locks = createLocks(session.redis, { replicas: 1 });
    try {
      const held = await locks.fenced('lock', { fence: 'clock' }).acquire({ leaseMs: LEASE });
      await work(session, { fence: held.fence });
      await held.release();
    } finally {
      await locks.close();
    }
  },
};
