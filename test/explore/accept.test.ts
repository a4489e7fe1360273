/** Findings by their fingerprints, and what a user accepts: limits of leases hide no defect beside them. */
import { expect, test } from 'vitest';
import { comparedLines } from '../../cli/explore/earlier.ts';
import { playedAgain } from '../../explore/again.ts';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type FaultName,
  replay,
} from '../../explore/index.ts';

const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/** Takes a lock on a resource with a lease twice, and gives it back by its token, or by a DEL that asks for none. */
async function rounds({ name, redis, sleep, resource, signal }: ClientSession, of: string, deletes: boolean) {
  for (let round = 0; round < 2 && !signal.aborted; round++) {
    const token = `${name}${round}`;
    while ((await redis.set(`lock:${of}`, token, 'PX', 200, 'NX').catch(() => null)) !== 'OK') {
      if (signal.aborted) return;
      await sleep(20);
    }
    const inside = resource(of).enter();
    await sleep(40);
    inside.write();
    inside.leave();
    await (deletes ? redis.del(`lock:${of}`) : redis.eval(RELEASE, 1, `lock:${of}`, token)).catch(() => 0);
  }
}

const lock = (
  fault: FaultName,
  deletes: boolean,
  accept: readonly string[],
  worlds = 100,
): ExploreOptions => ({
  ...{ name: 'lock', clients: 3, faults: [fault], promises: ['mutual-exclusion'], accept },
  budget: { worlds, ms: Infinity },
  client: (session) => rounds(session, 'stock', deletes),
});

test.each<[FaultName, RegExp, worlds?: number]>([
  ['client-pause', /; the lease of the first holder ended$/],
  ['clock-jump', /; the lease of the first holder ended by the server's clock$/],
  ['restart-empty', /; the grant was lost by a restart$/, 250],
  ['delay', /; the lease of the first holder ended; entered after its end$/],
])(
  'by %s a sound lock breaks only what lease-limits names, and a DEL without a token is found beside it',
  async (fault, limit, worlds) => {
    const bare = await explore(lock(fault, false, [], worlds));
    expect(bare.accepted).toEqual([]);
    expect(bare.findings.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(limit));
    const sound = await explore(lock(fault, false, ['lease-limits'], worlds));
    expect(sound.findings).toEqual([]);
    expect(sound.accepted.map(({ fingerprint }) => fingerprint).sort()).toEqual(
      bare.findings.map(({ fingerprint }) => fingerprint).sort(),
    );
    sound.assertNone();
    const twin = lock(fault, true, ['lease-limits'], worlds);
    const { findings } = await explore(twin);
    expect(findings.map(({ reason }) => reason)).toEqual([
      'first holder by SET NX; second holder by SET NX; freed by DEL of the former holder',
    ]);
    // It is the first thing that a replay tells, with the same options and without accepting anything that it repeats.
    const { breaches } = await replay(twin, findings[0]!.replay);
    expect(breaches[0]?.what).toBe(findings[0]!.what);
    expect((await replay({ ...twin, accept: [] }, findings[0]!.replay)).breaches.length).toBeGreaterThan(0);
  },
);

test('a fingerprint accepts one reason, and nothing else', async () => {
  const { findings } = await explore(lock('delay', true, []));
  expect(findings).toHaveLength(2);
  const accepted = findings.map(({ fingerprint }) => fingerprint);
  const first = await explore(lock('delay', true, accepted.slice(0, 1)));
  expect(first.findings.map(({ fingerprint }) => fingerprint)).toEqual(accepted.slice(1));
  expect(first.accepted.map(({ fingerprint }) => fingerprint)).toEqual(accepted.slice(0, 1));
  expect(String(first)).toMatch(
    new RegExp(`\naccepted: mutual-exclusion \\(delay\\): .*\\[${accepted[0]}\\]`),
  );
});

test('two resources that break by the same fault are two findings', async () => {
  const { findings } = await explore({
    ...lock('client-pause', false, []),
    async client(session) {
      await rounds(session, 'stock', false);
      await rounds(session, 'price', false);
    },
  });
  const texts = findings.map(({ what }) => /(stock|price)/.exec(what)?.[0]);
  expect(texts).toEqual(expect.arrayContaining(['stock', 'price']));
  expect(new Set(findings.map(({ cause }) => cause))).toEqual(new Set(['client-pause']));
});

test('what breaks in the world without faults hides nothing that breaks elsewhere', async () => {
  const { findings } = await explore({
    ...lock('client-pause', false, []),
    async client(session) {
      const open = session.resource('unguarded').enter();
      await session.sleep(session.name === 'A' ? 5 : 30);
      open.leave();
      await rounds(session, 'stock', false);
    },
    accept: [],
  });
  expect(findings[0]).toMatchObject({ cause: 'no fault', firstIn: 1, strategy: 'without faults' });
});

test('findings of an earlier report are played again: still broken, fixed, or no longer struck', async () => {
  const { findings } = await explore(lock('delay', true, ['lease-limits']));
  const outcomes = async (options: ExploreOptions) =>
    (await playedAgain(options, findings)).map(([, outcome]) => outcome);
  expect(await outcomes(lock('delay', true, ['lease-limits']))).toEqual(['still broken']);
  expect(await outcomes(lock('delay', false, ['lease-limits']))).toEqual(['fixed']);
  const client = (session: ClientSession) => session.resource('stock').enter().leave();
  const quick = { ...lock('delay', false, []), client };
  const late = findings.map((finding) => ({
    ...finding,
    replay: finding.replay.replace(/:[^:]+:[0-9a-f]{12}$/, ':lost-reply@900/A:000000000000'),
  }));
  expect((await playedAgain(quick, late)).map(([, outcome]) => outcome)).toEqual(['no longer strikes']);
});

test('reports are compared by fingerprints: what is new, known, and not found any more', async () => {
  const sound = await explore(lock('delay', false, []));
  const twin = await explore(lock('delay', true, []));
  expect(comparedLines([twin], [sound])).toEqual([
    'lock: 1 new, 1 known, 0 not found any more',
    expect.stringMatching(/^ {2}new: mutual-exclusion \(delay\): /),
  ]);
  expect(comparedLines([sound], [twin])[0]).toBe('lock: 0 new, 1 known, 1 not found any more');
  expect(comparedLines([twin], [])).toEqual(['lock: the earlier report does not have it']);
  const accepting = await explore(lock('delay', false, ['lease-limits']));
  expect(comparedLines([twin], [accepting])[0]).toBe('lock: 1 new, 1 known, 0 not found any more');
});

test('what names no finding is refused', async () => {
  for (const accept of [['client-pause'], ['lease-limit'], [1], 'lease-limits'])
    await expect(explore({ ...lock('delay', false, []), accept: accept as string[] })).rejects.toThrow(
      /option accept is .*; allowed: an array of 'lease-limits' and fingerprints/,
    );
});
