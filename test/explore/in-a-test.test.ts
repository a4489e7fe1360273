/** Explorations in tests: they end before the test's time limit with what they have, and nothing goes on behind the next tests. */
import '../../lab/router.ts';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type ClientSession, explore } from '../../explore/index.ts';
import { TestFixtures, type TestLimits } from '../../runners/fixtures.ts';
import { fixtures as jestFixtures } from '../../runners/jest.ts';
import { fixtures as mochaFixtures } from '../../runners/mocha.ts';
import { fixtures as nodeFixtures } from '../../runners/node-test.ts';

/** So many worlds that no test waits for them. */
const MANY = 1_000_000;

/** Has so many moments that no limit here leaves time for a fault at each. */
async function client({ name, redis, resource, sleep }: ClientSession): Promise<void> {
  for (let round = 0; round < 10; round++) {
    while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(25);
    resource('stock').enter().leave();
    await redis.del('lock');
  }
}

let worlds = 0;
const endless = {
  ...{ client, clients: 3, topology: { replicas: 0 }, faults: ['client-clock-jump'] as const },
  progress: () => void worlds++,
};
const withWorlds = { ...endless, budget: { worlds: MANY } };

/** The error of an exploration that ends because of these limits. */
function endedBy(limits: TestLimits): Promise<Error> {
  return new TestFixtures(
    () => 'a test',
    () => limits,
  )
    .explore(withWorlds)
    .then(
      () => expect.fail('it is not inconclusive'),
      (error: Error) => error,
    );
}

test('an exploration ends before the time limit of its test, with a partial report', async () => {
  const { message } = await endedBy({ ms: 250 });
  expect(message).toMatch(/unplayed: \d+ of \d+ worlds with one fault were played/);
  expect(message).not.toContain('nothing ends this exploration');
});

test('a signal of the runner ends it, and the report is printed where no test hears of it', async () => {
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { message } = await endedBy({ ms: 0, signal: AbortSignal.timeout(100) });
  const text = printed.mock.calls.map(([chunk]) => String(chunk)).join('');
  printed.mockRestore();
  expect(message).toContain('unplayed');
  expect(text).toContain(', stopped early, inconclusive');
});

test('what is still running ends with the test, and the next test has all of its time', async () => {
  const all = new TestFixtures(
    () => 'a test',
    () => ({ ms: 0 }),
  );
  const running = expect(all.explore(withWorlds)).rejects.toThrow('unplayed');
  const begun = worlds;
  await vi.waitFor(() => expect(worlds).toBeGreaterThan(begun));
  await all.close();
  const before = worlds;
  await running;
  expect(worlds).toBe(before);
  const next = all.explore({ ...endless, budget: { worlds: 2 }, allow: ['unplayed'] });
  expect((await next).worlds).toBe(2);
  await all.close();
});

test('a plain exploration in a test says how to bound it', async () => {
  const options = { ...endless, name: 'plain' };
  const report = await explore({ ...options, budget: { worlds: 2 } });
  const text = String(report).replace(/\n */g, ' ');
  expect(text).toContain(
    "in a test of Vitest, nothing ends this exploration at the test's time limit: give it budget.ms",
  );
  expect(text).toContain('or use the fixture explore of lostlock/vitest');
  for (const bound of [
    { budget: { worlds: 2, ms: 60_000 } },
    { budget: { worlds: 2 }, signal: new AbortController().signal },
  ])
    expect(String(await explore({ ...options, ...bound }))).not.toContain('in a test of');
});

test('Jest, Mocha and node:test tell what they allow a test', async () => {
  const known: unknown[] = [];
  vi.spyOn(TestFixtures.prototype, 'explore').mockImplementation(function (this: TestFixtures) {
    known.push(this.limits());
    return Promise.reject(new Error('it is not played here'));
  });
  const state = Symbol('JEST_STATE_SYMBOL');
  const globals = globalThis as Record<string | symbol, unknown>;
  const { afterEach, beforeEach, expect: asserts } = globals;
  const signal = new AbortController().signal;
  try {
    globals[state] = { testTimeout: 5000, currentlyRunningTest: { errors: [], timeout: 700 } };
    Object.assign(globals, { afterEach: () => {}, expect });
    await jestFixtures()
      .explore(endless)
      .catch(() => {});
    Object.assign(globals, {
      beforeEach: (hook: () => void) =>
        hook.call({ currentTest: { fullTitle: () => 'a test', timeout: () => 2000 } }),
    });
    await mochaFixtures()
      .explore(endless)
      .catch(() => {});
    await nodeFixtures({ name: 'a test', after: () => {}, signal })
      .explore(endless)
      .catch(() => {});
  } finally {
    vi.restoreAllMocks();
    delete globals[state];
    for (const [name, value] of Object.entries({ afterEach, beforeEach, expect: asserts }))
      if (value === undefined) delete globals[name];
      else globals[name] = value;
  }
  expect(known).toEqual([{ ms: 700 }, { ms: 2000 }, { ms: 0, signal }]);
});

test('the error of a finding names the page that was drawn of it, and a clean exploration says how much it has played', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-drawn-'));
  vi.stubEnv('LOSTLOCK_TIMELINES', folder);
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const all = new TestFixtures(
    () => 'sells once',
    () => ({ ms: 0 }),
  );
  const exploring = (token: boolean, progress = (): void => {}): Promise<unknown> =>
    all.explore({
      progress,
      ...{ clients: 2, faults: ['node-pause'], promises: ['released-by-holder'], allow: ['unplayed'] },
      budget: { worlds: 60 },
      async client({ name, redis, resource, sleep }) {
        while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
        const inside = resource('stock').enter();
        await sleep(300);
        inside.leave();
        if (!token || (await redis.get('lock')) === name) await redis.del('lock');
      },
    });
  try {
    const { message } = (await exploring(false).catch((error: unknown) => error)) as Error;
    expect(message).toContain('released-by-holder is broken');
    const [, file = ''] = /timeline of released-by-holder \(node-pause\): (.*)/.exec(message) ?? [];
    expect(file).toBe(join(folder, 'sells-once-1.html'));
    expect(readFileSync(file, 'utf8')).toContain('<svg');
    rmSync(file);
    let played = 0;
    const nearlyDone = new Promise<void>((resolve) => {
      exploring(false, () => void (++played === 59 && resolve())).catch(() => {});
    });
    await nearlyDone;
    await all.close(); // It waits for the drawing, too.
    expect(readdirSync(folder)).toEqual(['sells-once-1.html']);
    expect(printed).not.toHaveBeenCalled();
    vi.stubEnv('LOSTLOCK_TIMELINES', '');
    const again = (await exploring(false).catch((error: unknown) => error)) as Error;
    expect(again.message).toContain('released-by-holder is broken');
    expect(again.message).not.toContain('timeline of');
    expect(readdirSync(folder)).toEqual(['sells-once-1.html']);
    await exploring(true);
    expect(printed.mock.calls.map(([chunk]) => String(chunk)).join('')).toMatch(
      /^sells once: nothing broke in \d+ worlds \(\d+\.\d s\); played (all|\d+ of the \d+) worlds with one fault; not checked: mutual-exclusion, .* \('defaults' in promises adds them\)\n$/,
    );
  } finally {
    printed.mockRestore();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
});
