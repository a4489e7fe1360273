/** Programs that break only when two or three faults strike: they measure how soon a search combines faults. */
import type { ClientSession, ExploreOptions } from '../../explore/index.ts';
import { fresh, give, RETRY } from '../specimens/reported/report.ts';

/** A program whose promise takes several faults to break. */
export interface SeveralFaults
  extends Pick<ExploreOptions, 'topology' | 'clients' | 'client' | 'faults' | 'promises'> {
  readonly name: string;
  /** How many faults it takes. */
  readonly takes: 2 | 3;
}

type Client = (session: ClientSession) => Promise<void>;

const none = async (): Promise<null> => null;

/** Permits in a counter. Each client that dies while it has one takes it away for ever. */
function leaking(permits: number): Client {
  return async ({ redis, resource, sleep, signal }) => {
    await redis.set('permits', permits, 'NX').catch(none);
    for (;;) {
      if (signal.aborted) return;
      const left = await redis.decr('permits').catch(none);
      if (left !== null && left >= 0) break;
      if (left !== null) await redis.incr('permits').catch(none);
      await sleep(50);
    }
    const inside = resource('pool', { permits }).enter();
    await sleep(100);
    inside.leave();
    await redis.incr('permits').catch(none);
  };
}

/** More than half of the servers grant a lock. When some were not reached, one that forgets its grant is enough for a second holder. */
const majority: Client = async (session) => {
  const { name, servers, resource, sleep, signal } = session;
  const token = fresh(name);
  for (;;) {
    if (signal.aborted) return;
    const asked = performance.now();
    // Each server has 50 ms to answer.
    const votes = await Promise.all(
      servers.map((server) =>
        Promise.race([server.set('lock', token, 'PX', 1000, 'NX').catch(none), sleep(50).then(none)]),
      ),
    );
    if (votes.filter((vote) => vote === 'OK').length > servers.length / 2) {
      const ends = asked + 950;
      const inside = resource('stock').enter();
      await sleep(300);
      if (performance.now() < ends) inside.write();
      inside.leave();
    }
    await Promise.all(servers.map((redis) => give({ ...session, redis }, 'lock', token)));
    if (votes.filter((vote) => vote === 'OK').length > servers.length / 2) return;
    await sleep(RETRY);
  }
};

/**
 * A lock without a lease beside a heartbeat. A client that finds no heartbeat takes over, in steps that have marks of their own.
 * @param steps how many marks
 */
function takenOver(steps: number): Client {
  return async ({ name, redis, resource, sleep, signal }) => {
    const beats = (key: string): NodeJS.Timeout =>
      setInterval(() => void redis.set(`${key}:alive`, name, 'PX', 300).catch(none), 100);
    const take = async (level: number): Promise<boolean> => {
      const key = `lock${level}`;
      // Nobody takes over the last mark.
      if ((await redis.set(key, name, 'NX')) === 'OK') {
        await redis.set(`${key}:alive`, name, 'PX', 300);
        return true;
      }
      if (level === steps || (await redis.exists(`${key}:alive`)) === 1) return false;
      if (!(await take(level + 1))) return false;
      await sleep(20);
      if ((await redis.exists(`${key}:alive`)) === 0) await redis.del(key);
      await redis.del(`lock${level + 1}`);
      return false;
    };
    while (!(await take(0).catch(() => false))) {
      if (signal.aborted) return;
      await sleep(60);
    }
    const beat = beats('lock0');
    const inside = resource('stock').enter();
    await sleep(200);
    inside.leave();
    clearInterval(beat);
    await redis.del('lock0', 'lock0:alive').catch(none);
  };
}

/** All of them. */
export const severalFaults: readonly SeveralFaults[] = [
  ...([2, 3] as const).map(
    (takes): SeveralFaults => ({
      ...{ name: `${takes} permits leak by ${takes} deaths`, takes, client: leaking(takes), clients: 4 },
      ...{ topology: { replicas: 0 }, faults: ['client-death', 'client-pause', 'connection-reset'] },
      promises: ['no-orphan'],
    }),
  ),
  ...([2, 3] as const).map(
    (takes): SeveralFaults => ({
      ...{
        name: `a take-over whose last step has no heartbeat, after ${takes} deaths`,
        takes,
        client: takenOver(takes - 1),
      },
      ...{ clients: takes + 1, topology: { replicas: 0 }, faults: ['client-death', 'partition', 'delay'] },
      promises: ['no-orphan'],
    }),
  ),
  ...([2, 3] as const).map(
    (takes): SeveralFaults => ({
      ...{
        name: `a majority of ${2 * takes - 1} servers, ${takes - 1} not reached and one that forgets`,
        takes,
        client: majority,
      },
      ...{
        clients: 2,
        topology: { primaries: 2 * takes - 1, replicas: 0 },
        faults: ['lost-request', 'restart-empty'],
      },
      promises: ['mutual-exclusion'],
    }),
  ),
];
