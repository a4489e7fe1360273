/** What goes wrong in a world of an exploration is a finding that can be played again, and the other findings are kept. */
import { readFile } from 'node:fs';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import { describe } from '../../explore/describe.ts';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { gist } from '../../explore/promises/broken.ts';

/** Virtual milliseconds. */
const [RETRY, WORK] = [20, 40];

/** Takes a lock, and deletes it by its name alone, which is a mistake that a pause beyond the lease shows. */
async function work({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(RETRY);
  const inside = resource('stock').enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
  await redis.del('lock');
}

/** The same by a client that fails in a way of its own when its connection breaks. */
const failing = (fail: () => void): ExploreOptions => ({
  ...{ name: 'failing', clients: 2, faults: ['client-pause', 'connection-reset'] },
  budget: { worlds: 20, ms: Infinity },
  client: async (session) => {
    session.redis.on('close', () => {
      if (!session.signal.aborted) fail();
    });
    await work(session);
  },
});

test.each<[string, () => void, RegExp]>([
  [
    'an exception in a timer',
    () => void setTimeout(() => failWith('boom')),
    /^a client's process ended: nothing caught Error: boom$/,
  ],
  [
    'a thrown string',
    () => void setTimeout(() => throwText('boom')),
    /^a client's process ended: nothing caught boom$/,
  ],
  [
    'an exception in a tick',
    () => process.nextTick(() => failWith('boom')),
    /^a client's process ended: nothing caught Error: boom$/,
  ],
  ['real I/O', () => readFile('/dev/null', () => {}), /^RealInputOutput: .* real I\/O.*: FSReqCallback/],
])('%s is a finding, and not the end of the exploration', async (_what, fail, text) => {
  const options = failing(fail);
  const report = await explore(options);
  expect(report.worlds).toBe(20);
  const found = report.findings.map(({ promise, cause }) => `${promise}: ${cause}`);
  expect(found).toContain('mutual-exclusion: client-pause');
  expect(found.filter((each) => each.startsWith('no-error'))).toEqual(['no-error: connection-reset']);
  const finding = report.findings.find(({ promise }) => promise === 'no-error');
  expect(finding?.what).toMatch(text);
  expect(finding?.notRepeatable).toBeUndefined();
  expect(finding?.worlds).toBeGreaterThan(1);
  expect(finding?.story).toMatch(/connections to redis-1 break\n[\s\S]* no-error is broken: /);
  const { breaches, history, story } = await replay(options, finding!.replay);
  expect(breaches.map(({ promise, what }) => [promise, what])).toEqual([['no-error', finding!.what]]);
  expect(history.faults.map(({ kind }) => kind)).toEqual(['connection-reset']);
  expect(story).toContain('no-error is broken');
});

test('a loop without end is a breach of its world', async () => {
  const again = (): void => void setImmediate(again);
  const { breaches } = await replay(failing(again), '1:1:0:A,B:connection-reset@3/A:000000000000');
  expect(breaches.map(({ promise }) => promise)).toEqual(['no-error']);
  expect(breaches[0]?.what).toMatch(/^EndlessLoop: 200000 events without time moving/);
});

test('a node-redis client without a listener for errors is told as such, and not as a module that came too early', async () => {
  const client = async (session: ClientSession): Promise<void> => {
    const redis = createClient({ url: session.urls[0] as string });
    await redis.connect();
    await redis.set('k', session.name);
    await work(session);
    redis.destroy();
  };
  const { findings } = await explore({ ...failing(() => {}), client, faults: ['connection-reset'] });
  const [finding] = findings.filter(({ promise }) => promise === 'no-error');
  expect(finding?.what).toMatch(
    /^a client's process ended: nothing caught Error: read ECONNRESET\. If a client emitted it as 'error', the client needs a listener: client\.on\('error'/,
  );
  expect(finding?.what).not.toContain('lostlock/router');
  expect(finding?.story).toMatch(/ms {2}[AB] +its process ends: nothing caught Error: read ECONNRESET/);
});

function failWith(text: string): never {
  throw new Error(text);
}

function throwText(text: string): never {
  throw text;
}

test('different errors are different findings, and numbers in their texts make no difference', async () => {
  let count = 0;
  const fail = (): void => {
    count++;
    const text = count % 2 === 0 ? `lost lock ${count}` : `no server ${count}`;
    setTimeout(() => failWith(text));
  };
  const { findings } = await explore({ ...failing(fail), promises: [], faults: ['connection-reset'] });
  expect(new Set(findings.map(({ what }) => what.replace(/\d+/g, '#')))).toEqual(
    new Set(
      ['lost lock', 'no server'].map((text) => `a client's process ended: nothing caught Error: ${text} #`),
    ),
  );
  expect(findings).toHaveLength(2);
});

test('a promise that throws is named, and the others are still judged', async () => {
  function fragile(): never {
    throw new TypeError('visits[3] is undefined');
  }
  const broken = (): string => 'as always';
  const options = { ...failing(() => {}), faults: [], promises: [fragile, broken] };
  const report = await explore({ ...options, budget: { worlds: 1, ms: Infinity } });
  const text = 'the promise fragile throws TypeError: visits[3] is undefined';
  expect(report.findings.map(({ promise, what }) => [promise, what])).toEqual([
    ['no-error', text],
    ['broken', 'as always'],
  ]);
  expect(report.findings.map(({ replay: world }) => world)).not.toContain('');
  const { breaches } = await replay(options, report.findings[0]!.replay);
  expect(breaches.map(({ what }) => what)).toContain(text);
});

test('the history of a world that failed is not whole, so that promises about it are not judged', async () => {
  const everybody = ({ visits }: { visits: readonly unknown[] }) =>
    visits.length < 2 && 'somebody is missing';
  const options = { ...failing(() => void readFile('/dev/null', () => {})), promises: [everybody] };
  const { findings } = await explore({ ...options, faults: ['connection-reset'] });
  expect(findings.map(({ promise }) => promise)).toEqual(['no-error']);
});

test('a progress function that throws costs no finding', async () => {
  const progress = (): never => failWith('no terminal');
  const report = await explore({ ...failing(() => {}), progress });
  expect(report.worlds).toBe(20);
  expect(report.findings.map(({ promise, what }) => `${promise}: ${what}`)).toEqual([
    'no-error: the function progress fails: Error: no terminal',
    expect.stringMatching(/^mutual-exclusion: /),
  ]);
});

test('a failure of the world without faults is the error of the exploration, which has nothing to lose', async () => {
  const client = async (session: ClientSession): Promise<void> => {
    await work(session);
    await new Promise((resolve) => readFile('/dev/null', resolve));
  };
  await expect(explore({ ...failing(() => {}), client })).rejects.toThrow(
    /real I\/O.*\nThe world can be played again: 2:1:0:A,B::0{12}$/,
  );
});

test('whatever is thrown has a text of one line', () => {
  expect(describe(new RangeError('too long\nat …'))).toBe('RangeError: too long');
  expect(describe({ code: 3 })).toBe('{ code: 3 }');
  expect(describe(null)).toBe('null');
  expect(describe(undefined)).toBe('undefined');
  expect(describe(new Error('x'.repeat(300)))).toHaveLength(160);
});

test('an error is counted without its numbers and tokens, and still says something when it is one word', () => {
  expect(gist('job 17 with token 9f3a is gone')).toBe('job # with token # is gone');
  expect(gist('E2BIG')).toBe('E#BIG');
});
