/** `npm run explore:ladder`: in which world an exploration finds the failure of each step that a lock has to learn. */
import '../../lab/router.ts';
import { type ClientSession, type ExploreOptions, explore } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';

/** Milliseconds of the lease, of the work, and between two attempts. */
const [LEASE, WORK, RETRY] = [1000, 250, 50];
const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
/** How many worlds may pass before a failure is found. */
const MOST = 10_000;

/** One form of a lock. */
interface Step {
  readonly name: string;
  readonly safe: boolean;
  /** What the form is expected to break, or to keep. */
  readonly promises: ExploreOptions['promises'];
  readonly client: ExploreOptions['client'];
}

async function work({ sleep, resource }: ClientSession): Promise<void> {
  const inside = resource('stock').enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
}

/** A lock that takes its key by `take` and gives it back by `give`. */
function lock(
  take: (session: ClientSession) => Promise<boolean>,
  give: (session: ClientSession) => Promise<unknown>,
): Step['client'] {
  return async (session: ClientSession) => {
    while (!(await take(session))) await session.sleep(RETRY);
    await work(session);
    await give(session);
  };
}

const nx = async ({ name, redis }: ClientSession) =>
  (await redis.set('lock', name, 'PX', LEASE, 'NX')) === 'OK';
const del = ({ redis }: ClientSession) => redis.del('lock');
const script = ({ name, redis }: ClientSession) => redis.eval(RELEASE, 1, 'lock', name);

async function expire({ name, redis }: ClientSession): Promise<boolean> {
  if ((await redis.setnx('lock', name)) === 0) return false;
  await redis.pexpire('lock', LEASE);
  return true;
}

async function compare({ name, redis }: ClientSession): Promise<void> {
  if ((await redis.get('lock')) === name) await redis.del('lock');
}

async function fenced(session: ClientSession): Promise<void> {
  await using locks = createLocks(session.redis, { replicas: 1 });
  const held = await locks.fenced('lock', { fence: 'clock' }).acquire({ leaseMs: LEASE });
  const inside = session.resource('stock').enter({ fence: held.fence as number });
  await session.sleep(WORK);
  inside.write();
  inside.leave();
  await held.release();
}

const steps: readonly Step[] = [
  {
    name: '0: SETNX, deleted by hand',
    safe: false,
    promises: ['no-orphan'],
    client: lock(async ({ redis }) => (await redis.setnx('lock', 1)) === 1, del),
  },
  { name: '1: SETNX, then EXPIRE', safe: false, promises: ['no-orphan'], client: lock(expire, del) },
  {
    name: '2: SET NX PX, deleted without a token',
    safe: false,
    promises: ['mutual-exclusion'],
    client: lock(nx, del),
  },
  { name: '3: GET, compare, DEL', safe: false, promises: ['mutual-exclusion'], client: lock(nx, compare) },
  { name: '4: token and script', safe: false, promises: ['mutual-exclusion'], client: lock(nx, script) },
  {
    name: "our fenced lock, fence: 'clock', replicas: 1",
    safe: true,
    promises: ['mutual-exclusion'],
    client: fenced,
  },
];

const worlds = Number(process.argv[2] ?? MOST);
for (const { name, safe, promises = [], client } of steps) {
  const stop = new AbortController();
  const progress: ExploreOptions['progress'] = ({ findings }) => {
    if (findings > 0) stop.abort();
  };
  const begun = performance.now();
  const budget = { worlds: safe ? Math.min(worlds, 1000) : worlds, ms: Infinity };
  const report = await explore({ name, client, promises, clients: 2, budget, progress, signal: stop.signal });
  const [finding] = report.findings;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const found =
    finding === undefined
      ? `nothing in ${report.worlds} worlds`
      : `${finding.promise} (${finding.cause}) in world ${finding.firstIn}, ${finding.events.length} events`;
  console.log(
    `${safe === (finding === undefined) ? 'as expected' : 'NOT EXPECTED'}  ${name}: ${found}, ${seconds} s`,
  );
  if (safe !== (finding === undefined)) process.exitCode = 1;
}
