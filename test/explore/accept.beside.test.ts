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

/** How a client uses its lock wrongly: it gives it back by a DEL without a token, or goes in without counting its lease. */
type Mistake = 'DEL' | 'late' | 'none';

/** Takes a lock on a resource with a lease twice, and gives it back by its token. */
async function rounds({ name, redis, sleep, resource, signal }: ClientSession, of: string, mistake: Mistake) {
  for (let round = 0; round < 2 && !signal.aborted; round++) {
    const token = `${name}${round}`;
    for (let asked = 0; ; await sleep(20)) {
      if (signal.aborted) return;
      asked = performance.now();
      const granted = (await redis.set(`lock:${of}`, token, 'PX', 400, 'NX').catch(() => null)) === 'OK';
      if (granted && (mistake === 'late' || performance.now() - asked < 250)) break;
    }
    const inside = resource(of).enter();
    await sleep(120);
    inside.write();
    inside.leave();
    await (mistake === 'DEL' ? redis.del(`lock:${of}`) : redis.eval(RELEASE, 1, `lock:${of}`, token)).catch(
      () => 0,
    );
  }
}

const lock = (
  fault: FaultName,
  mistake: Mistake,
  accept: readonly string[],
  worlds = 100,
): ExploreOptions => ({
  ...{ name: 'lock', clients: 3, faults: [fault], promises: ['mutual-exclusion'], accept },
  budget: { worlds, ms: Infinity },
  client: (session) => rounds(session, 'stock', mistake),
});

test.each<[FaultName, RegExp, worlds?: number]>([
  ['client-pause', /; the lease of the first holder ended$/],
  ['clock-jump', /; the lease of the first holder ended by the server's clock$/],
  ['restart-empty', /; the grant was lost by a restart$/, 200],
])(
  'by %s a sound lock breaks only what lease-limits names, and a DEL without a token is found beside it',
  async (fault, limit, worlds) => {
    const bare = await explore(lock(fault, 'none', [], worlds));
    expect(bare.accepted).toEqual([]);
    expect(bare.findings.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(limit));
    const sound = await explore(lock(fault, 'none', ['lease-limits'], worlds));
    expect(sound.findings).toEqual([]);
    expect(sound.accepted.map(({ fingerprint }) => fingerprint).sort()).toEqual(
      bare.findings.map(({ fingerprint }) => fingerprint).sort(),
    );
    sound.assertNone({ allow: ['unplayed'] });
    const twin = lock(fault, 'DEL', ['lease-limits'], worlds);
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

test('a client that goes in after its lease has ended could have counted it: that is no limit of leases', async () => {
  const { findings, accepted } = await explore(lock('delay', 'late', ['lease-limits']));
  expect(findings.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/; the lease of the first holder ended; entered after its end$/),
  ]);
  expect(accepted).toEqual([]);
});

test('a fingerprint accepts one reason, and nothing else', async () => {
  const { findings } = await explore(lock('client-pause', 'DEL', []));
  const accepted = findings.map(({ fingerprint }) => fingerprint).slice(0, 1);
  const first = await explore(lock('client-pause', 'DEL', accepted));
  expect(first.findings.map(({ fingerprint }) => fingerprint)).not.toContain(accepted[0]);
  expect(first.findings.length).toBeGreaterThan(0);
  expect(first.accepted.map(({ fingerprint }) => fingerprint)).toEqual(accepted);
  expect(String(first).replaceAll('\n  ', ' ')).toMatch(
    new RegExp(`\naccepted: mutual-exclusion \\(client-pause\\): .*\\[${accepted[0]}\\]`),
  );
});

test('two resources that break by the same fault are two findings', async () => {
  const { findings } = await explore({
    ...lock('client-pause', 'none', []),
    async client(session) {
      await rounds(session, 'stock', 'none');
      await rounds(session, 'price', 'none');
    },
  });
  const texts = findings.map(({ what }) => /(stock|price)/.exec(what)?.[0]);
  expect(texts).toEqual(expect.arrayContaining(['stock', 'price']));
  expect(new Set(findings.map(({ cause }) => cause))).toEqual(new Set(['client-pause']));
});

test('what breaks in the world without faults hides nothing that breaks elsewhere', async () => {
  const { findings } = await explore({
    ...lock('client-pause', 'none', []),
    async client(session) {
      const open = session.resource('unguarded').enter();
      await session.sleep(session.name === 'A' ? 5 : 30);
      open.leave();
      await rounds(session, 'stock', 'none');
    },
    accept: [],
  });
  expect(findings[0]).toMatchObject({ cause: 'no fault', firstIn: 1, strategy: 'without faults' });
});

test('findings of an earlier report are played again: still broken, fixed, or no longer struck', async () => {
  const { findings } = await explore(lock('client-pause', 'DEL', ['lease-limits']));
  const outcomes = async (options: ExploreOptions) =>
    (await playedAgain(options, findings)).map(([, outcome]) => outcome);
  expect(await outcomes(lock('client-pause', 'DEL', ['lease-limits']))).toEqual(['still broken']);
  expect(await outcomes(lock('client-pause', 'none', ['lease-limits']))).toEqual(['fixed']);
  const client = (session: ClientSession) => session.resource('stock').enter().leave();
  const quick = { ...lock('delay', 'none', []), client };
  const late = findings.map((finding) => ({
    ...finding,
    replay: '1:1:0:A,B:lost-reply@900/A:000000000000',
  }));
  expect((await playedAgain(quick, late)).map(([, outcome]) => outcome)).toEqual(['no longer strikes']);
});

test('reports are compared by fingerprints: what is new, known, and not found any more', async () => {
  const sound = await explore(lock('client-pause', 'none', []));
  const twin = await explore({ ...lock('client-pause', 'DEL', ['lease-limits']) });
  const all = { ...twin, findings: [...twin.findings, ...twin.accepted] };
  expect(comparedLines([all], [sound])).toEqual([
    'lock: 1 new, 1 known, 0 not found any more',
    expect.stringMatching(/^ {2}new: mutual-exclusion \(client-pause\): /),
  ]);
  expect(comparedLines([sound], [all])[0]).toBe('lock: 0 new, 1 known, 1 not found any more');
  expect(comparedLines([twin], [])).toEqual(['lock: the earlier report does not have it']);
  expect(comparedLines([sound], [twin])[0]).toBe('lock: 0 new, 1 known, 1 not found any more');
});

test('what names no finding is refused', async () => {
  for (const accept of [['client-pause'], ['lease-limit'], [1], 'lease-limits'])
    await expect(explore({ ...lock('delay', 'none', []), accept: accept as string[] })).rejects.toThrow(
      /option accept is .*; allowed: an array of 'lease-limits' and fingerprints/,
    );
});

test('a lease that is too short for the work without any fault is no limit, and limits come last', async () => {
  const short: ExploreOptions = {
    ...{ name: 'short', topology: { replicas: 0 }, promises: ['mutual-exclusion'] },
    ...{ faults: ['client-pause', 'restart-empty'], budget: { worlds: 40, ms: Infinity } },
    async client({ name, redis, sleep, resource, signal }) {
      while ((await redis.set('lock', name, 'PX', 200, 'NX').catch(() => null)) !== 'OK') {
        if (signal.aborted) return;
        await sleep(20);
      }
      const inside = resource('stock').enter();
      await sleep(300);
      inside.write();
      inside.leave();
      await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
    },
  };
  const { findings, accepted } = await explore({ ...short, accept: ['lease-limits'] });
  expect(findings[0]?.sentence).toMatch(/: A's lease ended at 20\d ms, although nothing hindered A\.$/);
  expect(findings[0]?.story).toContain('at fault: the code of A, whose lease is shorter than its work');
  // A world with a pause is reduced to the one without.
  expect(findings).toHaveLength(1);
  expect(accepted.map(({ cause }) => cause)).not.toContain('client-pause');
  // A restart shows a limit before a pause shows the defect.
  const both = { ...lock('restart-empty', 'late', []), faults: ['restart-empty', 'client-pause'] as const };
  const told = (await explore(both)).findings;
  expect(told.map(({ isLimit }) => isLimit)).toEqual([false, true, true]);
  expect(told[0]!.firstIn).toBeGreaterThan(told[1]!.firstIn);
});
