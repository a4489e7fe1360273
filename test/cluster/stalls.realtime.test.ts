/** A process that stands still: its nodes do not take that for the silence of the others, which share it. */
import { expect, test } from 'vitest';
import type { Cluster, ClusterEvent } from '../../cluster/cluster.ts';
import { type LostlockCluster, startCluster } from '../../index.ts';
import { memberOf } from '../../lab/replica-group/shards.ts';
import { sampleOf } from '../support/long.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

/** In milliseconds. Every stall is several times as long. */
const NODE_TIMEOUT = 500;

/** The thread does nothing for so many milliseconds. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Each node's view of the cluster. */
const viewsOf = ({ nodes }: LostlockCluster): Cluster[] =>
  nodes.map(({ node }, at) => memberOf({ name: `node ${at}`, server: node }).cluster);

/** What the nodes say of each other and of the cluster from now on, and a wait until each has heard all others anew. */
function watch(cluster: LostlockCluster): { said: string[]; heardAll(): Promise<unknown> } {
  const views = viewsOf(cluster);
  const said: string[] = [];
  const note = ({ type, text }: ClusterEvent): void => void said.push(`${type}: ${text}`);
  for (const view of views) view.onEvent = note;
  const others = views.flatMap(({ peers }) => peers);
  return {
    said,
    heardAll() {
      const begun = Date.now();
      return until(() => others.every(({ pongAt, pingSentAt }) => pongAt > begun && pingSentAt === 0), {
        what: 'an answer from every node',
      });
    },
  };
}

/** True while a node waits for an answer of another. */
const someoneWaits = (cluster: LostlockCluster): boolean =>
  viewsOf(cluster).some(({ peers }) => peers.some(({ pingSentAt }) => pingSentAt !== 0));

/** How often each is tried, how long a process stands still, and how much a script writes. A long run has the figures of a report of users. */
const RUNS = Array.from({ length: sampleOf(20, 1) }, (_, i) => i + 1);
const STALL_MS = sampleOf(5000, NODE_TIMEOUT * 4);
const WRITES = sampleOf(3_000_000, 150_000);
const PATIENCE_MS = sampleOf(3_600_000, 60_000);

/** The roles of the nodes: the primaries come first. */
const roles = ({ nodes }: LostlockCluster): string[] => nodes.map(({ node }) => node.role);
const AS_BEFORE = [...Array(3).fill('primary'), ...Array(3).fill('replica')];

test.each(RUNS)(
  'after a stall in which answers were due, nobody is suspected and none is promoted (run %i)',
  async () => {
    await using cluster = await startCluster({ replicas: 1, nodeTimeout: NODE_TIMEOUT });
    const { said, heardAll } = watch(cluster);
    for (let i = 0; i < sampleOf(1, 3); i++) {
      await until(() => someoneWaits(cluster), { what: 'a ping without its answer' });
      standStill(STALL_MS);
    }
    await heardAll();
    expect(said).toEqual([]);
    expect(roles(cluster)).toEqual(AS_BEFORE);
  },
  PATIENCE_MS,
);

test.each(RUNS)(
  'while the nodes run a burst of writes and its stream, nobody is suspected and none is promoted (run %i)',
  async (run) => {
    // Every other run has the usual timeout.
    const options = run % 2 === 1 ? { nodeTimeout: NODE_TIMEOUT } : {};
    await using cluster = await startCluster({ replicas: 1, ...options });
    const { said, heardAll } = watch(cluster);
    const client = await RawClient.connect({ port: cluster.primaryOf('k').port });
    const script = `for i=1,${WRITES} do redis.call('LPUSH',KEYS[1],i) end return 1`;
    expect((await client.ask('EVAL', script, '1', 'k')).raw).toBe(':1\r\n');
    const { node } = cluster.primaryOf('k');
    const caughtUp = (): boolean =>
      node.replication.online().length === 1 &&
      node.replication.online().every(({ acknowledged }) => acknowledged === node.replication.offset);
    await until(caughtUp, { what: 'the replica', limitMs: PATIENCE_MS });
    await heardAll();
    client.close();
    expect(said).toEqual([]);
    expect(roles(cluster)).toEqual(AS_BEFORE);
  },
  PATIENCE_MS,
);
