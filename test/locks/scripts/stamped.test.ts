/** A script of the locks that only reads: with its final write, WAIT on a fresh connection waits for the lock. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { defineScript, stamped } from '../../../locks/scripts/define.ts';
import { createNode } from '../../../server/index.ts';
import { Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';

const reads = defineScript('reads', "return redis.call('get', KEYS[1])");

test.each([
  ['a lease', ['PX', '10000']],
  ['no lease', []],
])(
  'WAIT behind a stamped script counts only replicas that have the key, with %s',
  async (_lease, options) => {
    await using pair = await startPair({ clock: 'virtual', seed: 1 });
    await pair.run(async () => {
      const [a, again] = [pair.client('A'), pair.client('A again')];
      await Promise.all([a.ping(), again.ping()]);
      pair.link.hold();
      await a.call('SET', 'lock', 'A', ...options);
      expect(await again.eval(reads.text, 1, 'lock')).toBe('A');
      expect(await again.wait(1, 20)).toBe(1);
      expect(await again.eval(stamped(reads).text, 1, 'lock')).toBe('A');
      expect(await again.wait(1, 20)).toBe(0);
    });
  },
);

test('a stamped script gives a lock in its last millisecond no further one', async () => {
  const host = new TestHost();
  const server = createNode(host);
  const talk = new Talk(server);
  const ask = (): Promise<string> => talk.ask(`EVAL ${JSON.stringify(stamped(reads).text)} 1 lock`);
  await talk.ask('SET lock A PX 100');
  host.advance(100);
  expect(await ask()).toBe('$1\r\nA\r\n');
  expect(await talk.ask('PTTL lock')).toBe(':0\r\n');
  host.advance(1);
  expect(await ask()).toBe('$-1\r\n');
  server.stop();
});
