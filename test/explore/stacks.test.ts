/** Stacks of errors in worlds say nothing of the machine: code that stores them, as BullMQ does, has the same trace everywhere. */
import { expect, test } from 'vitest';
import { explore } from '../../explore/index.ts';
import { withShortStacks } from '../../lab/time/stacks.ts';

function failed(message: string): Error {
  return new TypeError(message);
}

test('the stack of an error in a world names files from the folder of the project on, and no lines of Node', async () => {
  const kept: string[] = [];
  await explore({
    name: 'failed job',
    clients: 1,
    faults: [],
    budget: { worlds: 1 },
    async client({ redis, resource }) {
      resource('job').enter().leave();
      await redis.set('failed', failed('no such job').stack ?? '');
      kept.push((await redis.get('failed')) ?? '');
    },
  });
  const [stack = ''] = kept;
  expect(stack).toMatch(
    /^TypeError: no such job\n {4}at failed \(\/?test\/explore\/stacks\.test\.ts:7:\d+\)\n/,
  );
  expect(stack).not.toContain(process.cwd());
  expect(stack).not.toMatch(/\bnode:|\blab\//);
  expect(new Set(kept).size).toBe(1);
});

test('the head of a stack is what the language makes of it', async () => {
  const named = Object.assign(failed(''), { name: 'Own' });
  const captured: { stack?: string } = {};
  const heads = await withShortStacks(async () => {
    Error.captureStackTrace(captured);
    return [failed('two\nlines'), failed(''), named, captured].map(
      ({ stack = '' }) => stack.split('\n    at ')[0],
    );
  });
  expect(heads).toEqual(['TypeError: two\nlines', 'TypeError', 'Own', 'Error']);
});

test('stacks outside of worlds are what they were, also when worlds overlap', async () => {
  const { prepareStackTrace } = Error;
  let end = (): void => {};
  const longer = withShortStacks(() => new Promise<void>((resolve) => (end = resolve)));
  await withShortStacks(async () => {});
  expect(Error.prepareStackTrace).not.toBe(prepareStackTrace);
  end();
  await longer;
  expect(Error.prepareStackTrace).toBe(prepareStackTrace);
});
