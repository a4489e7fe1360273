/** What an exploration says when its worlds do not repeat: the first event that differs, and the likely source. */
import { uptime } from 'node:process';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, type ExploreReport, explore } from '../../explore/index.ts';

/** What the code got from outside the world, before lostlock could give it the world's own. */
let outside: () => string | undefined;

/** A sound lock whose clients also store something. */
const storing = (worlds: number): ExploreOptions => ({
  ...{ name: 'storing', clients: 2, faults: ['client-death'], promises: ['mutual-exclusion'] },
  budget: { worlds, ms: Infinity },
  async client({ name, redis, sleep, resource }: ClientSession) {
    const what = outside();
    if (what !== undefined) await redis.set(`own:${name}`, what, 'PX', 90);
    while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(20);
    const inside = resource('stock').enter();
    inside.write();
    inside.leave();
    await redis.eval(
      "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end",
      1,
      'lock',
      name,
    );
  },
});

async function played(from: () => string | undefined, worlds = 4): Promise<ExploreReport> {
  outside = from;
  return await explore(storing(worlds));
}

/** Values that differ each time, as those of functions that a module has kept from before. */
function* machine(): Generator<number, never> {
  for (let now = performance.timeOrigin; ; now += 17.25) yield now;
}
const clock = machine();
const random = [...'3f9c01d7a2b84e65ac10be99f2c07d31'.matchAll(/.{8}/g)].map(([part]) => part);

test.each<[string, () => string | undefined, RegExp]>([
  [
    'the real time of the machine',
    () => String(Math.floor(clock.next().value)),
    /likely source: \d{13} is the real time of this machine\. Date\.now or new Date came from a module that was loaded before 'lostlock\/router'/,
  ],
  [
    'random text',
    () => `${random[0]}${random.push(random.shift() ?? '') && ''}`,
    /likely source: [0-9a-f]{8} and [0-9a-f]{8} are random/,
  ],
  [
    'a number with a fraction',
    () => uptime().toFixed(9),
    /likely source: a number with a fraction that differs each time/,
  ],
])('%s is named, also when no promise breaks', async (_what, from, source) => {
  const { findings, notRepeatable } = await played(from);
  expect(findings).toEqual([]);
  expect(notRepeatable).toMatch(/^event \d+ was 'A:\d+>redis-1 data .*own:A.*' at 1\.000 ms, and then '/s);
  expect(notRepeatable).toMatch(source);
});

test('a counter at module level is named', async () => {
  let count = 0;
  expect((await played(() => String(count++))).notRepeatable).toMatch(
    /likely source: 0 became \d, as a counter does: state that outlives a world/,
  );
});

test('what only the first play does is state at module level: the world without faults shows it', async () => {
  let isCached = false;
  const report = await played(() => {
    if (isCached) return undefined;
    isCached = true;
    return 'loaded';
  }, 1);
  expect(report.notRepeatable).toMatch(
    /^event \d+ was '.*own:A.*only the first play differs, and later ones are alike: state that outlives a world/s,
  );
  expect(String(report)).toContain('\nnot repeatable: event ');
});

test('a clean world later on is played twice as well', async () => {
  let plays = 0;
  // The first worlds are alike.
  const late = await played(() => (++plays > 12 ? `play ${plays}` : 'play 0'), 16);
  expect(late.notRepeatable).toMatch(/likely source: \d+ became \d+, as a counter does/);
  expect((await played(() => 'alike', 16)).notRepeatable).toBeUndefined();
});
