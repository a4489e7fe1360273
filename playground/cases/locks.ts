/** The locks that the playground offers, as the code that its clients run: each step of the ladder, and ours. */
import { ourLocks, type PlayLock, WORK } from './our-locks.ts';

const SCRIPT = `const RELEASE = \`if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0\`;
`;

const SET = `while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
`;

const REDLOCK = `${SCRIPT}
async function acquire() {
  const begun = performance.now();
  const replies = await Promise.all(servers.map((server) =>
    server.set('lock', name, 'PX', 1000, 'NX').catch(() => null)));
  const granted = replies.filter((reply) => reply === 'OK').length;
  const left = 1000 - (performance.now() - begun) - 10 - 2;
  return granted > servers.length / 2 && left > 0;
}
const release = () => Promise.all(servers.map((server) =>
  server.eval(RELEASE, 1, 'lock', name).catch(() => 0)));

while (!(await acquire())) {
  await release();
  await sleep(50 + Math.random() * 50);
}
${WORK}await release();
`;

const WAIT = `${SCRIPT}
async function acquire() {
  if ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') return false;
  if ((await redis.wait(1, 100)) >= 1) return true;
  await redis.eval(RELEASE, 1, 'lock', name); // No replica has it: a failover could lose it.
  return false;
}

while (!(await acquire())) await sleep(50);
${WORK}await redis.eval(RELEASE, 1, 'lock', name);
`;

/** By their names. */
export const playLocks: readonly PlayLock[] = [
  {
    name: 'setnx',
    title: '1. SETNX, deleted by hand',
    nodes: 'pair',
    code: `while ((await redis.setnx('lock', name)) === 0) await sleep(50);
${WORK}await redis.del('lock');
`,
  },
  {
    name: 'setnx-expire',
    title: '2. SETNX, then EXPIRE',
    nodes: 'pair',
    code: `while ((await redis.setnx('lock', name)) === 0) await sleep(50);
await redis.pexpire('lock', 1000); // What if the client dies before this?
${WORK}await redis.del('lock');
`,
  },
  {
    name: 'no-token',
    title: '3. SET NX PX, released without a token',
    nodes: 'pair',
    code: `${SET}${WORK}await redis.del('lock'); // Whose lock is it by now?
`,
  },
  {
    name: 'get-del',
    title: '4. GET, compare, DEL',
    nodes: 'pair',
    code: `${SET}${WORK}if ((await redis.get('lock')) === name) await redis.del('lock'); // Two steps.
`,
  },
  {
    name: 'token',
    title: '5. Token and script',
    nodes: 'pair',
    code: `${SCRIPT}
${SET}${WORK}await redis.eval(RELEASE, 1, 'lock', name);
`,
  },
  { name: 'wait', title: '6. Token, script and WAIT 1', nodes: 'pair', code: WAIT },
  { name: 'redlock', title: '7. Redlock on three primaries', nodes: 'three', code: REDLOCK },
  ...ourLocks,
];

/** The topologies, by their names. */
export const playNodes: readonly (readonly [name: string, title: string])[] = [
  ['pair', 'a primary and a replica'],
  ['two', 'a primary and two replicas'],
  ['three', 'three independent primaries'],
  ['five', 'five independent primaries'],
  ['sentinels', 'a primary, two replicas, three Sentinels'],
  ['cluster', 'a cluster of three primaries with a replica each'],
];

export function codeOf(lock: string): string | undefined {
  return playLocks.find(({ name }) => name === lock)?.code;
}
