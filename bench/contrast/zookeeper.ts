/** Three ZooKeeper servers, and clients with Curator's InterProcessMutex, each a Java process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort, ServerProcess } from '../../lab/real-servers/program.ts';
import { HostNetwork, LOCALHOST } from './network.ts';
import { type Ensemble, type LockClient, sleep } from './system.ts';

const CLASSES = [
  'zookeeper',
  'zookeeper-jute',
  'slf4j-api',
  'slf4j-nop',
  'netty-all',
  'snappy-java',
  'metrics-core',
  'commons-cli',
]
  .map((name) => `/usr/share/java/${name}.jar`)
  .join(':');

/** Asks a server by a four-letter word; '' if it does not answer. */
function ask(address: string, port: number, word: string): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    const socket = connect(port, address, () => socket.write(word));
    socket.setTimeout(500, () => socket.destroy());
    socket.on('data', (chunk) => (all += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(all));
  });
}

function configuration(folder: string, address: string, port: number, servers: readonly string[]): string {
  return [
    `dataDir=${folder}/data`,
    `clientPort=${port}`,
    `clientPortAddress=${address}`,
    'tickTime=200',
    'initLimit=20',
    'syncLimit=5',
    'admin.enableServer=false',
    '4lw.commands.whitelist=*',
    ...servers,
    '',
  ].join('\n');
}

/**
 * Starts the servers, and waits for a leader.
 * @param classPath Curator and the client program
 * @param isCut whether the leader will be cut off, with client A on its host
 */
export async function startZooKeeper(
  java: string,
  classPath: string,
  leaseMs: number,
  isCut: boolean,
): Promise<Ensemble> {
  const ports = await Promise.all(Array.from({ length: 9 }, freePort));
  const network = isCut ? HostNetwork.create(3) : undefined;
  const hosts = [0, 1, 2].map((i) => network?.hosts[i] ?? LOCALHOST);
  const members = hosts.map((host, i) => ({ host, ports: ports.slice(3 * i, 3 * i + 3) }));
  const processes = hosts.map(({ prefix }) => new ServerProcess(prefix[0] ?? java));
  const servers = members.map(
    ({ host, ports: [, peer, vote] }, i) => `server.${i + 1}=${host.address}:${peer}:${vote}`,
  );
  const start = (i: number): void => {
    const { folder } = processes[i] as ServerProcess;
    mkdirSync(`${folder}/data`, { recursive: true });
    const { host, ports: own } = members[i] as (typeof members)[number];
    writeFileSync(`${folder}/data/myid`, String(i + 1));
    writeFileSync(`${folder}/zoo.cfg`, configuration(folder, host.address, own[0] ?? 0, servers));
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    const words = [...host.prefix, java].slice(1);
    processes[i]?.start([...words, '-Xmx128m', '-cp', CLASSES, main, `${folder}/zoo.cfg`]);
  };
  for (const i of members.keys()) start(i);
  const leader = async (): Promise<number> => {
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      for (const [i, { host, ports: own }] of members.entries())
        if ((await ask(host.address, own[0] ?? 0, 'srvr')).includes('Mode: leader')) return i;
      await sleep(50);
    }
    throw new Error(`ZooKeeper does not start: ${processes[0]?.printed}`);
  };
  const first = await leader();
  const addresses = members.map(({ host, ports: own }) => `${host.address}:${own[0]}`).join(',');
  const command = [java, '-Xmx96m', '-cp', classPath, 'lostlock.Mutex', addresses, String(leaseMs)];
  return {
    client: (name) => openClient([...((name === 'A' && hosts[first]?.prefix) || []), ...command]),
    killLeader: async () => void (await processes[await leader()]?.kill()),
    async restartEmpty() {
      const at = await leader();
      await processes[at]?.kill();
      processes[at]?.wipe();
      start(at);
    },
    ...(network && {
      async cutLeader() {
        if ((await leader()) !== first) throw new Error('ZooKeeper has another leader than at the start');
        network.cut(first);
      },
    }),
    async close() {
      await Promise.all(processes.map((each) => each.remove()));
      network?.close();
    },
  };
}

async function openClient([program, ...words]: readonly string[]): Promise<LockClient> {
  const child: ChildProcess = spawn(program as string, words, { stdio: ['pipe', 'pipe', 'ignore'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    if (!line.startsWith('state ')) waiting.shift()?.(line);
  });
  const next = (): Promise<string> => new Promise((resolve) => void waiting.push(resolve));
  const say = (line: string): Promise<string> => {
    child.stdin?.write(`${line}\n`);
    return next();
  };
  await next();
  return {
    acquire: async (name, waitMs) =>
      (await say(`acquire ${name} ${Math.round(waitMs)}`)).startsWith('granted'),
    release: async () => void (await say('release')),
    stall: () => void child.kill('SIGSTOP'),
    close: async () => {
      process.off('exit', kill);
      kill();
    },
  };
}
