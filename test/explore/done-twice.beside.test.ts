/** Work that is done twice, one after the other: why, whose fault it is, and what would have prevented it. */
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore, type History } from '../../explore/index.ts';
import { playBroken } from './play-finding.ts';

const LEASE = 1000;
/** Says that the work is done, and gives the lock back. */
const END = "redis.call('set',KEYS[2],'1') return redis.call('del',KEYS[1])";

/** A worker that takes a job, asks for its effect, waits for the answer, and then says that the job is done. */
async function worker({ redis, name, sleep, resource, signal }: ClientSession): Promise<void> {
  while (!signal.aborted && (await redis.get('done').catch(() => null)) === null) {
    const isTaken = await redis.set('job', name, 'PX', LEASE, 'NX').catch(() => null);
    if (isTaken === 'OK') {
      const inside = resource('o1', { once: true }).enter();
      await inside.send().catch(() => false);
      inside.leave();
      await sleep(300);
      await redis.eval(END, 2, 'job', 'done').catch(() => undefined);
    }
    await sleep(100);
  }
}

async function storyOf(options: Partial<ExploreOptions>): Promise<string> {
  const common: ExploreOptions = { name: 'job', client: worker, clients: 2, promises: ['once'] };
  return String(await explore({ ...common, budget: { worlds: 60 }, stopAtFirst: true, ...options }));
}

test('a worker that dies when the work is done: no lock can help, and the cure is an idempotency key', async () => {
  const story = await storyOf({ faults: ['client-death'] });
  expect(story).toContain('at fault: the code, for which the work must be done once: ');
  expect(story).toContain('prevented by: an idempotency key');
  expect(story).not.toContain('fencing token');
  // Both times.
  expect(story.match(/its write arrives at o1/g)).toHaveLength(2);
});

test('a failover that loses the end of the work is told, and no release is blamed', async () => {
  const story = await storyOf({
    ...{ faults: ['failover-behind'], topology: { replicas: 1 }, stopAtFirst: false },
  });
  expect(story).toMatch(
    /[AB]'s script \w+, which had been acknowledged, was lost by the failover to redis-2\./,
  );
  expect(story).toMatch(/EVAL\w* .* on redis-1 gives back its own lock/);
  expect(story).not.toMatch(/at fault: the code of [AB]: its script/);
});

test('a promise of the user may name one client twice: its last two visits are told', async () => {
  const options: ExploreOptions = {
    ...{ name: 'job', client: worker, clients: 1, promises: [doneOnce], topology: { replicas: 1 } },
    ...{ faults: ['failover-behind'], budget: { worlds: 60 }, stopAtFirst: true },
  };
  const { findings } = await explore(options);
  const { cause } = await playBroken(options, findings[0]!.replay);
  expect(cause.entries.map(({ client }) => client)).toEqual(['A', 'A']);
  expect(cause.entries[0]?.visit).not.toBe(cause.entries[1]?.visit);
});

/** The clients of the first two visits, which may be one. */
function doneOnce({ visits }: History) {
  const [first, second] = visits.filter(({ client }) => client !== 'probe');
  if (second === undefined) return undefined;
  return {
    what: 'it was done twice',
    at: second.to,
    resource: 'o1',
    clients: [first!.client, second.client],
  };
}
