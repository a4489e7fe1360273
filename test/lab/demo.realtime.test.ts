/** The demo: each story's stated verdict over several seeds, and the same lines for the same seed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { demoCommand } from '../../cli/demo/command.ts';
import { painter, storyLines, verdictTable } from '../../cli/demo/print.ts';
import { startPair } from '../../index.ts';
import { cures, namedStories, stories } from '../../lab/demo/stories.ts';
import type { TimelineFile } from '../../page/format.ts';
import { hasRedisServer } from '../support/redis-server.ts';

const TOLD = {
  Failover: ['A', 'B'],
  'Failover, A asks WAIT 1 and gives up on 0': ['B'],
  'WAIT 1 answers 1, and the other replica is promoted': ['A', 'B'],
  'WAIT 1 on another connection of the pool': ['A', 'B'],
  'Redlock on five nodes, and one restarts empty': ['A', 'B'],
  'Redlock on five nodes, and one clock jumps': ['A', 'B'],
  'A fencing token, checked at the resource': ['A', 'B'],
  'The fencing counter is rolled back by the failover': ['A', 'B'],
  'No quorum: answered at once': ['A', 'B'],
  'Quorum: answered only when a majority has it': ['B'],
};
const SAFE = ['gives up on 0', 'checked at the resource', 'Quorum:'];

test.each([1, 7, 42, 1000])('with seed %i every story ends with its stated verdict', async (seed) => {
  for (const story of stories) {
    const { title, verdict } = await story(seed);
    expect([title, verdict.holders]).toEqual([title, TOLD[title as keyof typeof TOLD]]);
    expect([title, verdict.safe]).toEqual([title, SAFE.some((part) => title.includes(part))]);
  }
});

test('the same seed prints the same lines, and another seed prints others', async () => {
  const print = async (seed: number): Promise<string> => {
    const played = [];
    for (const story of stories) played.push(await story(seed));
    const paint = painter(false);
    const lines = [...played.flatMap((each) => storyLines(each, paint)), ...verdictTable(played, paint)];
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    return lines.join('\n');
  };
  const first = await print(7);
  expect(await print(7)).toBe(first);
  expect(await print(8)).not.toBe(first);
});

test.each([50, 60, 80])(
  'in a terminal of %i columns no line is longer, and every event has its lane',
  async (columns) => {
    for (const story of stories) {
      const played = await story(7);
      const lines = storyLines(played, painter(false), columns);
      expect(lines.slice(2).filter((line) => line.length > columns)).toEqual([]);
      const head = lines[2] ?? '';
      const named = played.lanes.every((lane) => head.includes(lane));
      const events = lines.slice(3).join('\n');
      for (const { lane } of played.events) expect(named || events.includes(`${lane}: `)).toBe(true);
    }
  },
);

test('the demo ends with what to type next', async () => {
  let text = '';
  const printed = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => (text += chunk) !== '');
  try {
    expect(await demoCommand(['wait'])).toBe(0);
  } finally {
    printed.mockRestore();
  }
  const next = text.trimEnd().split('\n').slice(-3);
  expect(next.every((line) => line.startsWith('npx lostlock ') && line.length <= 80)).toBe(true);
  expect(next[0]).toContain('npx lostlock demo wait --html out.html');
});

test('every story that loses has a cure, and the cure is safe', async () => {
  for (const [name, story] of Object.entries(namedStories)) {
    const { verdict } = await story(7);
    expect([name, Object.hasOwn(cures, name)]).toEqual([name, !verdict.safe]);
    if (!verdict.safe) expect([name, (await cures[name]?.play(7))?.verdict.safe]).toEqual([name, true]);
  }
});

test('what is drawn has the cure of each loss as a run of its own, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-demo-test-'));
  const file = join(folder, 'demo.json');
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    expect(await demoCommand(['failover', 'wait-other-connection', 'wait', '--html', file])).toBe(0);
  } finally {
    printed.mockRestore();
  }
  const { runs } = JSON.parse(readFileSync(file, 'utf8')) as TimelineFile;
  rmSync(folder, { recursive: true });
  expect(runs.map(({ verdict }) => [verdict?.safe, verdict?.cured])).toEqual([
    [false, 2],
    [false, 2],
    [true, undefined],
  ]);
  expect(runs[0]?.verdict?.cure).toContain('WAIT 1');
});

test.skipIf(!hasRedisServer)(
  'two real redis-servers lose the lock in the same way (needs redis-server)',
  async () => {
    const main = join(import.meta.dirname, '../../cli/cli.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      './test/support/loader/register.mjs',
      main,
      'demo',
      '--redis',
      '--json',
    ]);
    expect(JSON.parse(stdout)[0].verdict.holders).toEqual(['A', 'B']);
  },
);

test('in quorum mode a write is answered once a majority has it, and only a complete node is promoted', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3, replicas: 2, quorum: true });
  const client = pair.client('A');
  expect(await client.set('answered', '1')).toBe('OK');
  pair.linkTo('redis-3').hold();
  expect(await client.set('by one replica', '1')).toBe('OK');
  await expect(pair.failover({ crash: true, to: 'redis-3' })).rejects.toThrow('redis-3 lacks writes');
  const { to, lost } = await pair.failover();
  expect([to, lost]).toEqual(['redis-2', []]);
});

test('in quorum mode nothing is promoted without a majority', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3, replicas: 2, quorum: true });
  pair.node('redis-2').crash();
  await expect(pair.failover({ crash: true })).rejects.toThrow('no majority: 2 of 3 nodes must be up');
});
