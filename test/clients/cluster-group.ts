/** Clusters of three primaries with a replica each, ours and real ones, and the programs that hold a lock while a primary dies. */
import { spawn } from 'node:child_process';
import { startCluster } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { askNode, form, nodeAt, realNode, type TestNode } from '../cluster/nodes.ts';
import { until } from '../support/until.ts';

const PRIMARIES = 3;
const limitMs = 120_000;

/** A running cluster. */
export interface ClusterGroup extends AsyncDisposable {
  /** The ports of all nodes, dead ones included: what a client is configured with. */
  readonly ports: readonly number[];
  /** Kills the primary that serves a key, once its replica has everything. Resolves when all other nodes know its successor. */
  killPrimaryOf(key: string): Promise<void>;
}

/** The id of the primary that serves a slot, as one node says; undefined when it knows none. */
async function primaryOf(slot: number, { admin }: TestNode): Promise<string | undefined> {
  const { value } = await admin.ask('CLUSTER', 'NODES');
  const serving = String(value[1])
    .split('\n')
    .find((line) => {
      const [, , flags = '', , , , , , ...ranges] = line.split(' ');
      return (
        /master/.test(flags) &&
        !/fail/.test(flags) &&
        ranges.some((range) => {
          const [from, to = from] = range.split('-').map(Number);
          return from !== undefined && slot >= from && slot <= to!;
        })
      );
    });
  return serving?.split(' ')[0];
}

class RunningGroup implements ClusterGroup {
  readonly ports: readonly number[];
  #up: readonly TestNode[];

  constructor(nodes: readonly TestNode[]) {
    this.ports = nodes.map(({ port }) => port);
    this.#up = nodes;
  }

  async killPrimaryOf(key: string): Promise<void> {
    const slot = slotOf(key);
    const id = await primaryOf(slot, this.#up[0]!);
    const primary = this.#up.find((node) => node.id === id);
    if (primary === undefined) throw new Error(`no node serves ${key}`);
    // A replica that has the later write has the lock.
    await askNode(primary.admin, 'SET', `{${key}}:later`, 'x');
    const copies = await askNode(primary.admin, 'WAIT', '1', String(limitMs));
    if (copies !== ':1') throw new Error(`the replica of ${key} is not in sync: ${copies}`);
    await primary.stop();
    this.#up = this.#up.filter((node) => node !== primary);
    const agreed = async (): Promise<boolean> => {
      const named = new Set<string | undefined>();
      for (const node of this.#up) {
        if (!(await askNode(node.admin, 'CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
        named.add(await primaryOf(slot, node));
      }
      return named.size === 1 && !named.has(undefined) && !named.has(primary.id);
    };
    await until(agreed, { what: `a new primary for ${key}`, limitMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#up.map((node) => node.stop()));
  }
}

/** Starts a cluster of ours by `startCluster`. */
export async function ourCluster(dialect: DialectName, nodeTimeout = 5000): Promise<ClusterGroup> {
  const cluster = await startCluster({ primaries: PRIMARIES, replicas: 1, dialect, nodeTimeout });
  return new RunningGroup(
    await Promise.all(cluster.nodes.map((node) => nodeAt(node.port, () => node.stop()))),
  );
}

/** Starts a cluster of real servers. */
export async function realCluster(program: string): Promise<ClusterGroup> {
  const nodes: TestNode[] = [];
  for (let i = 0; i < 2 * PRIMARIES; i++) nodes.push(await realNode(program));
  await form(nodes);
  return new RunningGroup(nodes);
}

/**
 * Runs a program whose clients hold locks on a cluster: for each line `held KEY` that it prints, the primary of that key
 * dies, and the program reads a line when its successor is known. The ports of the nodes are its last argument.
 * @returns the lines that it printed
 */
export function followed([program, ...args]: readonly string[], group: ClusterGroup): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, [...args, group.ports.join(',')], { stdio: 'pipe' });
    let out = '';
    let complaints = '';
    let read = 0;
    const fail = (error: unknown): void => {
      child.kill('SIGKILL');
      reject(error);
    };
    child.once('error', fail);
    child.stdin.on('error', () => {}); // The program has ended.
    child.stderr.on('data', (chunk: Buffer) => {
      complaints += chunk.toString();
    });
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      for (let end = out.indexOf('\n', read); end >= 0; end = out.indexOf('\n', read)) {
        const held = /^held (\S+)$/.exec(out.slice(read, end));
        read = end + 1;
        if (held === null) continue;
        group.killPrimaryOf(held[1]!).then(() => child.stdin.write('moved\n'), fail);
      }
    });
    child.once('close', (code) => {
      if (code === 0) resolve(out.trimEnd().split('\n'));
      else reject(new Error(`${program} ended with ${code}:\n${out}${complaints}`));
    });
  });
}
