/** A write to a resource at a distance travels: what a fault makes late breaks exclusion, unless the resource refuses its fence. */
import '../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type FaultName,
  replay,
} from '../../explore/index.ts';
import { answerOf } from '../../page/plain.ts';

/** Virtual milliseconds. */
const [LEASE, RETRY, WORK] = [400, 50, 200];
const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

/** Looks at its deadline, then writes: at once in its own process, or to a resource at a distance, with or without a fence. */
const writer =
  (how: 'local' | 'sends' | 'sends a fence') =>
  async ({ name, redis, sleep, resource }: ClientSession): Promise<void> => {
    let end = 0;
    for (let got: unknown = null; got !== 'OK'; ) {
      end = performance.now() + LEASE - 20;
      got = await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => null);
      if (got !== 'OK') await sleep(RETRY);
    }
    const fence = how === 'sends a fence' ? { fence: await redis.incr('fence') } : {};
    if (performance.now() < end) {
      const inside = resource('stock').enter(fence);
      await sleep(WORK);
      if (performance.now() < end) {
        if (how === 'local') inside.write();
        else await inside.send();
      }
      inside.leave();
    }
    await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
  };

const options = (how: Parameters<typeof writer>[0], faults: readonly FaultName[]): ExploreOptions => ({
  ...{ name: how, topology: { replicas: 0 }, clients: 2, client: writer(how) },
  ...{ faults, promises: ['mutual-exclusion'], exhaustive: 1 },
});

describe.each(['client-pause', 'partition', 'delay'] as const)('%s', (fault) => {
  test('makes a write late that was allowed when it was sent', async () => {
    const { findings } = await explore(options('sends', [fault]));
    expect(findings.map(({ promise, cause }) => `${promise}: ${cause}`)).toEqual([
      `mutual-exclusion: ${fault}`,
    ]);
    expect(findings[0]?.what).toMatch(/^a write of A arrived at stock after B had entered (and left )?it$/);
    const { history, story, timelineData } = await replay(options('sends', [fault]), findings[0]!.replay);
    const [{ at, sent = 0 } = { at: 0 }] = history.visits[0]!.writes;
    expect(at).toBeGreaterThan(history.visits[1]!.from);
    expect(sent).toBeLessThan(LEASE - 20);
    expect(story).toMatch(/ A +sends a write to stock\n/);
    expect(story).toMatch(/ A +its write arrives at stock\n/);
    const timeline = await timelineData();
    const arrival = timeline.story.find(({ text }) => text === 'The write of A arrives at stock.');
    expect(
      timeline.messages[(arrival?.about as { message: number } | undefined)?.message ?? -1],
    ).toMatchObject({
      from: 'A',
      to: 'stock',
      arrived: Math.round(at * 1000),
    });
    expect(answerOf(timeline).word).toBe('Broken: a write of A came too late.');
  });

  test('does no harm when the resource refuses the smaller fence, nor to a write in the own process', async () => {
    expect((await explore(options('sends a fence', [fault]))).findings).toEqual([]);
    expect((await explore(options('local', [fault]))).findings).toEqual([]);
  });
});

/** The answers that a client gets. */
async function answersOf(
  play: (session: ClientSession, note: (answer: unknown) => void) => Promise<void>,
  faults = '',
): Promise<unknown[]> {
  const answers: unknown[] = [];
  const client = async (session: ClientSession): Promise<void> => {
    if (session.probe) return;
    await play(session, (answer) => answers.push(answer));
  };
  const what: ExploreOptions = { name: 'answers', clients: 1, client, topology: { replicas: 0 } };
  await replay(what, `1:1:0:A:${faults}:000000000000`, { sameTrace: false });
  // The world without faults was played before.
  return answers.slice(answers.length / 2);
}

test('a write is answered when it has arrived and come back, and refused for a smaller fence or after the client has left', async () => {
  const answers = await answersOf(async ({ resource }, note) => {
    const one = resource('stock').enter({ fence: 1 });
    const before = performance.now();
    note(await one.send());
    note(performance.now() > before + 3);
    const two = resource('stock').enter({ fence: 2 });
    note(await one.send());
    note(await two.send());
    two.leave();
    note(await two.send());
  });
  expect(answers).toEqual([true, true, false, true, false]);
});

test('a reset of its connections ends a write under way, and nobody knows whether it arrived', async () => {
  const sending = async ({ resource }: ClientSession, note: (answer: unknown) => void): Promise<void> => {
    const inside = resource('stock').enter();
    await inside.send().then(note, (error: Error) => note(error.message));
    inside.leave();
  };
  const unknown = 'the connection to stock broke, and nobody knows whether the write arrived';
  // At 2.5 ms it has connected and sent.
  expect(await answersOf(sending, 'connection-reset@2.5/A')).toEqual([unknown]);
  expect(await answersOf(sending)).toEqual([true]);
});

test('a write that a client has sent arrives although the client dies, and its answer never comes', async () => {
  const what: ExploreOptions = {
    ...{ name: 'dies', clients: 1, topology: { replicas: 0 } },
    client: async ({ resource, probe }) => {
      if (probe) return;
      const inside = resource('stock: 42').enter();
      await inside.send();
      inside.leave();
    },
  };
  // At 2.5 ms it has connected and sent.
  const { history } = await replay(what, '1:1:0:A:client-death@2.5/A:000000000000', { sameTrace: false });
  const [visit] = history.visits;
  expect(visit?.ended).toBe('died');
  expect(visit?.writes).toMatchObject([{ taken: true, sent: 0 }]);
  expect(visit!.writes[0]!.at).toBeGreaterThan(visit!.to);
  expect(history.messages.some(({ to }) => to === 'stock-42')).toBe(true);
});

describe('two tasks of one client', () => {
  const inside = async ({ resource, sleep }: ClientSession, owner?: string): Promise<void> => {
    await sleep(1);
    const visit = resource('stock').enter(owner === undefined ? {} : { owner });
    await sleep(10);
    visit.write();
    visit.leave();
  };
  const found = async (client: (session: ClientSession) => Promise<unknown>): Promise<string[]> => {
    const what: ExploreOptions = { name: 'tasks', clients: 1, client, topology: { replicas: 0 } };
    const { breaches } = await replay(what, '1:1:0:A::000000000000', { sameTrace: false });
    return breaches.filter(({ promise }) => promise === 'mutual-exclusion').map(({ what }) => what);
  };

  test('break exclusion like two clients', async () => {
    expect(await found((session) => Promise.all([inside(session), inside(session)]))).toEqual([
      'another task of A entered stock while one task of A was still inside',
    ]);
    expect(await found((session) => Promise.all([inside(session, 'A1'), inside(session, 'A2')]))).toEqual([
      'A2 of A entered stock while A1 of A was still inside',
    ]);
  });

  test('do not when one has entered within the other, one after the other, or as one owner', async () => {
    const nested = async (session: ClientSession): Promise<void> => {
      const outer = session.resource('stock').enter();
      await session.sleep(1);
      await inside(session);
      await inside(session);
      outer.write();
      outer.leave();
      await inside(session);
    };
    expect(await found(nested)).toEqual([]);
    expect(await found((session) => Promise.all([inside(session, 'A1'), inside(session, 'A1')]))).toEqual([]);
  });

  test('do when both were started after the client had been inside itself', async () => {
    const twice = async (session: ClientSession): Promise<void> => {
      await inside(session);
      await Promise.all([inside(session), inside(session)]);
    };
    expect(await found(twice)).toHaveLength(1);
  });
});
