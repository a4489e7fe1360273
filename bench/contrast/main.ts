/** `npm run bench:contrast`: the same faults on Redis, Redlock, quorum mode, ZooKeeper and etcd, as a table and a plot. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { findProgram } from '../../lab/real-servers/program.ts';
import { buildProject, resolveProject } from '../../test/clients/maven.ts';
import { startEtcd } from './etcd.ts';
import { page, plot, type Row } from './page.ts';
import { BEHIND, startQuorum, startRedlock, startReplicated } from './redis.ts';
import { type Ensemble, FAULTS, latencies, play } from './system.ts';
import { startZooKeeper } from './zookeeper.ts';

const LEASE = 3000;
const ACQUISITIONS = Number(process.argv[2] ?? 300);

/** The first line that a program prints about its version. */
function versionOf(program: string, ...args: string[]): string {
  return (execFileSync(program, args, { encoding: 'utf8' }).split('\n')[0] ?? '').trim();
}

interface Contestant {
  readonly name: string;
  /** Why it is left out, if it is. */
  readonly missing?: string;
  /** `isCut` is true for the fault that cuts the leader off. */
  readonly start: (isCut: boolean) => Promise<Ensemble>;
}

function contestants(): { all: Contestant[]; versions: string[] } {
  const versions: string[] = [];
  const [redis, etcd, java] = ['redis-server', 'etcd', 'java'].map((name) => findProgram(name));
  const all: Contestant[] = [];
  const redisMissing = redis === undefined ? { missing: 'redis-server is not installed' } : {};
  if (redis !== undefined) versions.push(versionOf(redis, '--version').split(' sha')[0] as string);
  all.push({ name: 'Redis, asynchronous', start: () => startReplicated(LEASE, 0), ...redisMissing });
  all.push({ name: 'Redis, WAIT 1', start: () => startReplicated(LEASE, 1), ...redisMissing });
  all.push({ name: 'Redlock, 5 primaries', start: () => startRedlock(LEASE), ...redisMissing });
  all.push({ name: 'lostlock, quorum mode', start: () => startQuorum(LEASE) });
  const zooJar = '/usr/share/java/zookeeper.jar';
  if (java === undefined || findProgram('mvn') === undefined || !existsSync(zooJar)) {
    const missing = 'java, Maven or the Debian package zookeeper is not installed';
    all.push({ name: 'ZooKeeper, Curator', missing, start: () => Promise.reject(new Error(missing)) });
  } else {
    const project = new URL('./zookeeper', import.meta.url).pathname;
    resolveProject(project);
    const classPath = buildProject(project);
    versions.push('ZooKeeper 3.8.0 (Debian) with Curator 5.5.0');
    all.push({ name: 'ZooKeeper, Curator', start: (isCut) => startZooKeeper(java, classPath, LEASE, isCut) });
  }
  if (etcd === undefined) {
    const missing = 'etcd is not installed';
    all.push({ name: 'etcd', missing, start: () => Promise.reject(new Error(missing)) });
  } else {
    versions.push(versionOf(etcd, '--version'));
    all.push({ name: 'etcd', start: (isCut) => startEtcd(etcd, LEASE, isCut) });
  }
  return { all, versions };
}

async function main(): Promise<void> {
  const { all, versions } = contestants();
  const rows: Row[] = [];
  for (const { name, missing, start } of all) {
    if (missing !== undefined) {
      console.error(`${name}: left out, because ${missing}`);
      continue;
    }
    const fates: Row['fates'] = [];
    for (const fault of FAULTS) {
      const fate = await play(fault, () => start(fault === 'leader is cut off with its client'), LEASE);
      fates.push(fate);
      const what = fate === undefined ? 'not caused' : `${fate.twoHolders ? 'two holders' : 'one holder'}`;
      console.error(`${name}, ${fault}: ${what}, ${fate?.without.toFixed(2)} s without a lock`);
    }
    const [median, p99] = await latencies(() => start(false), ACQUISITIONS);
    console.error(`${name}: acquisition ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
    rows.push({ name, fates, median, p99 });
  }
  const gib = (totalmem() / 2 ** 30).toFixed(1);
  const machine = `${cpus().length} cores (${cpus()[0]?.model}), ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
  writeFileSync(
    'docs/contrast.md',
    page(rows, { versions, machine, lease: LEASE, behind: BEHIND, count: ACQUISITIONS }),
  );
  writeFileSync('docs/contrast.svg', plot(rows));
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
