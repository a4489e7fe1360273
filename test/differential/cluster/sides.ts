/** The two clusters that get the same requests: lostlock's, and one of real servers. */
import type { DialectName } from '../../../server/dialects/index.ts';
import { anonymous, askNode, form, ourNode, realNode, SHARES, type TestNode } from '../../cluster/nodes.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { printed } from './compare.ts';
import { NODES, type NodeRequest, SLOTS } from './requests.ts';

/** One cluster under test. */
export class ClusterSide {
  readonly nodes: readonly TestNode[];
  #clients: RawClient[] = [];
  /** What each connection has queued since MULTI. */
  #queues: (readonly string[])[][] = [];

  private constructor(nodes: readonly TestNode[]) {
    this.nodes = nodes;
  }

  static ours(dialect: DialectName): Promise<ClusterSide> {
    return ClusterSide.#of(() => ourNode(dialect));
  }

  static real(program: string): Promise<ClusterSide> {
    return ClusterSide.#of(() => realNode(program));
  }

  static async #of(start: () => Promise<TestNode>): Promise<ClusterSide> {
    const nodes: TestNode[] = [];
    for (let i = 0; i < NODES; i++) nodes.push(await start());
    const side = new ClusterSide(nodes);
    await form(nodes);
    // Long enough that a busy machine suspects nobody.
    for (const { admin } of nodes) await askNode(admin, 'CONFIG', 'SET', 'cluster-node-timeout', '600000');
    await side.reset();
    return side;
  }

  async #reconnect(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#clients = await Promise.all(this.nodes.map(({ port }) => RawClient.connect({ port })));
    this.#queues = this.nodes.map(() => []);
  }

  /** Replaces references such as <ID0> by this side's ids and ports. */
  #own(word: string): string {
    return word.replace(/<(ID|PORT)(\d)>/g, (_, kind: string, index: string) => {
      const node = this.nodes[Number(index)];
      return String(kind === 'ID' ? node?.id : node?.port);
    });
  }

  async ask({ node, words }: NodeRequest): Promise<string> {
    if (node === 3) await this.#catchUp();
    const client = this.#clients[node] as RawClient;
    const [first = '', ...rest] = words.map((word) => this.#own(word));
    const { value } = await client.ask(first, ...rest);
    const queue = this.#queues[node] ?? [];
    if (value[1] === 'QUEUED') queue.push(words);
    else if (first === 'EXEC' || first === 'DISCARD') this.#queues[node] = [];
    return printed(words, value, (text) => anonymous(this.nodes, text), queue);
  }

  /** The replica has everything that its primary has. */
  async #catchUp(): Promise<void> {
    const [primary, , , replica] = this.nodes as [TestNode, TestNode, TestNode, TestNode];
    const offset = async ({ admin }: TestNode): Promise<string | undefined> =>
      /master_repl_offset:(\d+)/.exec(await askNode(admin, 'INFO', 'replication'))?.[1];
    await until(async () => (await offset(primary)) === (await offset(replica)), {
      what: 'a replica in sync',
    });
  }

  /** Brings every node back to a known state. */
  async reset(): Promise<void> {
    await this.#reconnect();
    for (const [i, { admin }] of this.nodes.entries()) {
      const share = SHARES[i];
      for (const slot of SLOTS) {
        await askNode(admin, 'CLUSTER', 'SETSLOT', String(slot), 'STABLE');
        const isOwn = share !== undefined && slot >= share[0] && slot <= share[1];
        if (isOwn) await askNode(admin, 'CLUSTER', 'ADDSLOTS', String(slot));
      }
      await askNode(admin, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'yes');
      await askNode(admin, 'CONFIG', 'SET', 'cluster-allow-reads-when-down', 'no');
      await askNode(admin, 'CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'ip');
      if (i < 3) await askNode(admin, 'FLUSHALL');
    }
    const isOk = async (): Promise<boolean> => {
      for (const { admin } of this.nodes) {
        if (!(await askNode(admin, 'CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
      }
      return true;
    };
    await until(isOk, { what: 'a cluster that works again', limitMs: 30_000 });
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
