/** Three members of etcd, and its lock over the JSON gateway of the v3 API. */
import { freePort, ServerProcess } from '../../lab/real-servers/program.ts';
import { type Host, HostNetwork, LOCALHOST } from './network.ts';
import { type Ensemble, type LockClient, sleep } from './system.ts';

type Answer = Record<string, string> & { header?: { member_id?: string } };

const text = (value: string): string => Buffer.from(value).toString('base64');

/** One member. */
class Member {
  readonly process: ServerProcess;
  readonly name: string;
  readonly client: string;
  readonly peer: string;

  readonly #words: readonly string[];

  constructor(path: string, name: string, { address, prefix }: Host, [client, peer]: [number, number]) {
    const [program, ...words] = [...prefix, path];
    this.process = new ServerProcess(program as string);
    this.#words = words;
    this.name = name;
    this.client = `http://${address}:${client}`;
    this.peer = `http://${address}:${peer}`;
  }

  /** @param cluster all members, as --initial-cluster names them */
  start(cluster: string): void {
    this.process.start([
      ...this.#words,
      ...['--name', this.name, '--data-dir', `${this.process.folder}/data`, '--initial-cluster', cluster],
      ...['--listen-client-urls', this.client, '--advertise-client-urls', this.client],
      ...['--listen-peer-urls', this.peer, '--initial-advertise-peer-urls', this.peer],
      ...['--heartbeat-interval', '100', '--election-timeout', '1000'],
    ]);
  }

  /** Calls a method of the API. Rejects when it fails or takes longer than so many milliseconds. */
  async call(method: string, body: object, ms: number): Promise<Answer> {
    const reply = await fetch(`${this.client}/v3/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(Math.ceil(ms)),
    });
    const answer = (await reply.json()) as Answer;
    if (!reply.ok) throw new Error(JSON.stringify(answer));
    return answer;
  }

  async leads(): Promise<boolean> {
    if (!this.process.runs) return false;
    const status = await this.call('maintenance/status', {}, 500).catch(() => undefined);
    return status?.leader !== undefined && status.leader === status.header?.member_id;
  }
}

async function leaderOf(members: readonly Member[]): Promise<Member> {
  const end = performance.now() + 60_000;
  while (performance.now() < end) {
    for (const member of members) if (await member.leads()) return member;
    await sleep(20);
  }
  throw new Error(`etcd has no leader: ${members[0]?.process.printed}`);
}

/** A client that asks the members in turn. */
class EtcdClient implements LockClient {
  readonly #members: readonly Member[];
  readonly #leaseMs: number;
  #key: string | undefined;

  constructor(members: readonly Member[], leaseMs: number) {
    this.#members = members;
    this.#leaseMs = leaseMs;
  }

  async acquire(name: string, waitMs: number): Promise<boolean> {
    const end = performance.now() + waitMs;
    for (let at = 0; performance.now() < end; at++) {
      const member = this.#members[at % this.#members.length] as Member;
      if (!member.process.runs) continue;
      const left = (): number => Math.max(50, end - performance.now());
      try {
        const ttl = String(this.#leaseMs / 1000);
        const { ID } = await member.call('lease/grant', { TTL: ttl }, Math.min(500, left()));
        this.#key = (await member.call('lock/lock', { name: text(name), lease: ID }, left())).key;
        return true;
      } catch {
        await sleep(10);
      }
    }
    return false;
  }

  async release(): Promise<void> {
    for (const member of this.#members) {
      if (!member.process.runs || this.#key === undefined) continue;
      const done = await member.call('lock/unlock', { key: this.#key }, 500).catch(() => undefined);
      if (done !== undefined) return;
    }
  }

  /** Nothing renews the lease anyway. */
  stall(): void {}

  async close(): Promise<void> {}
}

/**
 * Starts the members, and waits for a leader.
 * @param leaseMs whole seconds, in milliseconds
 * @param isCut whether the leader will be cut off. Its client sends nothing afterwards.
 */
export async function startEtcd(path: string, leaseMs: number, isCut: boolean): Promise<Ensemble> {
  const ports = await Promise.all(Array.from({ length: 6 }, freePort));
  const network = isCut ? HostNetwork.create(3) : undefined;
  const members = [0, 1, 2].map((i) => {
    const own: [number, number] = [ports[2 * i] as number, ports[2 * i + 1] as number];
    return new Member(path, `m${i}`, network?.hosts[i] ?? LOCALHOST, own);
  });
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  for (const member of members) member.start(cluster);
  await leaderOf(members);
  return {
    client: async () => new EtcdClient(members, leaseMs),
    killLeader: async () => (await leaderOf(members)).process.kill(),
    async restartEmpty() {
      const leader = await leaderOf(members);
      await leader.process.kill();
      leader.process.wipe();
      leader.start(cluster);
    },
    ...(network && { cutLeader: async () => network.cut(members.indexOf(await leaderOf(members))) }),
    async close() {
      await Promise.all(members.map((each) => each.process.remove()));
      network?.close();
    },
  };
}
