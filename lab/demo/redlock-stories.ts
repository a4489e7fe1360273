/** Stories about Redlock on five independent primaries: one node restarts empty, or one clock jumps. */
import type { Redis } from 'ioredis';
import { type Servers, startServers } from '../pair.ts';
import type { LabNode } from '../virtual/node.ts';
import { type Played, StoryRecorder, type Verdict } from './recorder.ts';

const KEY = 'my:lock';
const LEASE = 10_000;
const MAJORITY = 3;
/** The timeout for one node, in milliseconds; short compared with the lease. */
const PER_NODE = 50;

interface RedlockScene {
  readonly servers: Servers;
  readonly recorder: StoryRecorder;
}

/** Asks every node for the lock. A node that does not answer in time counts as a refusal. */
async function acquire(
  { servers, recorder }: RedlockScene,
  who: 'A' | 'B',
  clients: readonly Redis[],
): Promise<boolean> {
  let taken = 0;
  const asked = clients.map(async (client, i) => {
    const reply = await client.set(KEY, who, 'PX', LEASE, 'NX').catch(() => 'no answer');
    const node = servers.nodes[i] as LabNode;
    recorder.note(node.name, `${who}: ${reply ?? 'refused'}`, reply === 'OK' ? 'good' : 'plain');
    // With the majority's answers it has the lock, whatever the others say.
    if (reply === 'OK' && ++taken === MAJORITY)
      recorder.note(who, `${taken} of ${clients.length}: acquired`, 'good');
  });
  await Promise.all(asked);
  const held = taken >= MAJORITY;
  if (!held) recorder.note(who, `${taken} of ${clients.length}: not acquired`);
  return held;
}

async function tell(
  title: string,
  seed: number,
  harm: (scene: RedlockScene) => Promise<Verdict['why']>,
): Promise<Played> {
  await using servers = await startServers({ clock: 'virtual', seed, primaries: 5 });
  const begun = servers.world.elapsed();
  const names = ['A', 'B', ...servers.nodes.map(({ name }) => name)];
  const recorder = new StoryRecorder(names, () => (servers.world.elapsed() - begun) / 1000);
  const scene = { servers, recorder };
  const options = { commandTimeout: PER_NODE, maxRetriesPerRequest: 0 };
  const [a, b] = [servers.clients('A', options), servers.clients('B', options)];
  const { network } = servers.world;
  await Promise.all([...a, ...b].map((client) => client.ping()));
  network.partition(['A'], ['redis-4', 'redis-5']);
  recorder.note('A', 'cannot reach redis-4 and redis-5', 'hand');
  const first = await acquire(scene, 'A', a);
  const why = await harm(scene);
  network.partition(['B'], ['redis-1', 'redis-2']);
  recorder.note('B', 'cannot reach redis-1 and redis-2', 'hand');
  const second = await acquire(scene, 'B', b);
  const holders = [...(first ? ['A'] : []), ...(second ? ['B'] : [])];
  const verdict = { holders, safe: holders.length < 2, why };
  await servers.advance(20);
  const timeline = servers.timelineData({ title, verdict, from: begun });
  return { title, lanes: names, events: recorder.events, verdict, timeline };
}

/** One node of the majority restarts empty and forgets the lock; or, as the cure, it stays down. */
export function redlockRestart(seed: number, staysAway = false): Promise<Played> {
  const end = staysAway ? 'one crashes and stays down' : 'one restarts empty';
  return tell(`Redlock on five nodes, and ${end}`, seed, async ({ servers, recorder }) => {
    const third = servers.nodes[2] as LabNode;
    third.crash();
    recorder.note(third.name, 'crash', 'hand');
    if (staysAway) {
      await servers.advance(2000);
      return 'redis-3 stays down for the longest lease, and grants nothing that it may have forgotten.';
    }
    third.restart();
    recorder.note(third.name, 'restart, without its data', 'hand');
    await servers.advance(2000);
    return 'redis-3 restarted without its data, forgot its vote for A, and voted for B.';
  });
}

/** One node's clock jumps and ends the lease early; or, as the cure, it is adjusted slowly. */
export function redlockClockJump(seed: number, slowly = false): Promise<Played> {
  const end = slowly ? 'one clock is adjusted slowly' : 'one clock jumps';
  return tell(`Redlock on five nodes, and ${end}`, seed, async ({ servers, recorder }) => {
    const third = servers.nodes[2] as LabNode;
    if (slowly) {
      third.clock.drift(1.0005);
      recorder.note(third.name, 'its clock runs 0.05 % faster, until it is right', 'hand');
      await servers.advance(10);
      return 'redis-3 catches up by 0.5 ms a second, which is less than the 1 % that leases allow for.';
    }
    third.clock.jump(LEASE + 1000);
    recorder.note(third.name, `its clock jumps by ${LEASE + 1000} ms`, 'hand');
    await servers.advance(10);
    return 'redis-3 ended the lease by its own clock, 11 s ahead of the others.';
  });
}
