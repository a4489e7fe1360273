/** Three ZooKeeper servers on 127.0.0.1, and clients with Curator's InterProcessMutex, each a Java process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort, ServerProcess } from '../../lab/processes/program.ts';
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
function ask(port: number, word: string): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(word));
    socket.setTimeout(500, () => socket.destroy());
    socket.on('data', (chunk) => (all += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(all));
  });
}

/** Starts the servers, and waits for a leader. @param classPath Curator and the client program */
export async function startZooKeeper(java: string, classPath: string, leaseMs: number): Promise<Ensemble> {
  const ports = await Promise.all(Array.from({ length: 9 }, freePort));
  const members = [0, 1, 2].map((i) => ports.slice(3 * i, 3 * i + 3) as [number, number, number]);
  const processes = members.map(() => new ServerProcess(java));
  const servers = members.map(([, peer, vote], i) => `server.${i + 1}=127.0.0.1:${peer}:${vote}`);
  const start = (i: number): void => {
    const { folder } = processes[i] as ServerProcess;
    mkdirSync(`${folder}/data`, { recursive: true });
    writeFileSync(`${folder}/data/myid`, String(i + 1));
    const lines = [`dataDir=${folder}/data`, `clientPort=${members[i]?.[0]}`, 'clientPortAddress=127.0.0.1'];
    const rest = [
      'tickTime=200',
      'initLimit=20',
      'syncLimit=5',
      'admin.enableServer=false',
      '4lw.commands.whitelist=*',
    ];
    writeFileSync(`${folder}/zoo.cfg`, [...lines, ...rest, ...servers, ''].join('\n'));
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    processes[i]?.start(['-Xmx128m', '-cp', CLASSES, main, `${folder}/zoo.cfg`]);
  };
  for (const i of members.keys()) start(i);
  const leader = async (): Promise<number> => {
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      for (const i of members.keys())
        if ((await ask(members[i]?.[0] ?? 0, 'srvr')).includes('Mode: leader')) return i;
      await sleep(50);
    }
    throw new Error(`ZooKeeper does not start: ${processes[0]?.printed}`);
  };
  await leader();
  const address = members.map(([port]) => `127.0.0.1:${port}`).join(',');
  return {
    client: () => openClient(java, classPath, address, leaseMs),
    killLeader: async () => void (await processes[await leader()]?.kill()),
    async restartEmpty() {
      const at = await leader();
      await processes[at]?.kill();
      processes[at]?.wipe();
      start(at);
    },
    close: async () => void (await Promise.all(processes.map((each) => each.remove()))),
  };
}

async function openClient(
  java: string,
  classPath: string,
  address: string,
  leaseMs: number,
): Promise<LockClient> {
  const child: ChildProcess = spawn(
    java,
    ['-Xmx96m', '-cp', classPath, 'lostlock.Mutex', address, String(leaseMs)],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
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
