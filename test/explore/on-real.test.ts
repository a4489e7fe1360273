/** Every kind of finding, found on the virtual clock, happens on real servers too. */
import { expect, test } from 'vitest';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type History,
  replay,
} from '../../explore/index.ts';
import { hasRedisServer } from '../support/redis-server.ts';

const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
/** Milliseconds. The lease leaves a slow machine time to start a process. */
const [LEASE, WORK, RETRY] = [3000, 1000, 20];

type Give = (session: ClientSession) => Promise<unknown>;

function lock(give: Give, take?: (session: ClientSession) => Promise<unknown>, fenced = false) {
  const nx = ({ name, redis }: ClientSession) => redis.set('lock', name, 'PX', LEASE, 'NX');
  return async (session: ClientSession): Promise<void> => {
    const { redis, sleep, resource } = session;
    while (!(await (take ?? nx)(session))) await sleep(RETRY);
    const inside = resource('stock').enter(fenced ? { fence: await redis.incr('fence') } : {});
    await sleep(WORK);
    inside.write();
    inside.leave();
    await give(session);
  };
}

const byToken: Give = ({ name, redis }) => redis.eval(RELEASE, 1, 'lock', name);
const byHand: Give = ({ redis }) => redis.del('lock');

/** Nobody deletes the key that another client has set. */
function wrongRelease({ writes }: History): string | undefined {
  const setters: string[] = [];
  for (const { client, command } of writes) {
    const verb = command[0]?.toUpperCase();
    if (client === undefined) continue;
    if (verb === 'SET') setters.push(client);
    // A real server names the expiry of a key a DEL of the client that asked for the key.
    else if (verb === 'DEL' && setters.includes(client) && setters.at(-1) !== client)
      return `${client} deletes the key of ${setters.at(-1)}`;
  }
  return undefined;
}

const kinds: readonly [what: string, options: Omit<ExploreOptions, 'name'>][] = [
  ['two holders after a failover that is behind', { client: lock(byToken), faults: ['failover-behind'] }],
  ['two holders after a restart without data', { client: lock(byToken), faults: ['restart-empty'] }],
  ['two holders after a stall', { client: lock(byToken), faults: ['client-pause'] }],
  ['two holders after a delay', { client: lock(byToken), faults: ['delay'] }],
  [
    'a fence used twice after a failover that is behind',
    { client: lock(byToken, undefined, true), faults: ['failover-behind'] },
  ],
  [
    'an orphan after a death',
    { client: lock(byHand, async ({ redis }) => redis.setnx('lock', 1)), faults: ['client-death'] },
  ],
  [
    'a wrong release after a stall',
    { client: lock(byHand), faults: ['client-pause'], promises: [wrongRelease] },
  ],
];

test.skipIf(!hasRedisServer).each(kinds)('%s (needs redis-server)', async (name, part) => {
  const stop = new AbortController();
  const options: ExploreOptions = {
    ...{ name, clients: 2, ...part },
    budget: { worlds: 400, ms: Infinity },
    progress: ({ findings }) => findings > 0 && stop.abort(),
    signal: stop.signal,
  };
  const { findings } = await explore(options);
  const [finding] = findings;
  expect(finding?.notRepeatable).toBeUndefined();
  const real = await replay({ ...options, progress: () => {} }, finding!.replay, { on: 'redis-server' });
  expect(real.story).toMatch(/ is broken on redis-server\n/);
  expect(real.breaches.map(({ promise }) => promise)).toContain(finding!.promise);
});
