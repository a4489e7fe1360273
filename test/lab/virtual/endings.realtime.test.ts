/** What the clients of a killed node see, in the lab on both clocks and with a redis-server, whose kernel closes its connections. */
import '../../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const PLAIN = ['end', 'close false'];
const RESET = ['error read ECONNRESET', 'close true'];

/** What a socket has seen, without the data. */
function watch(socket: Socket): { events: string[]; bytes: () => number } {
  const events: string[] = [];
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.on('end', () => events.push('end'));
  socket.on('error', (error) => events.push(`error ${error.message}`));
  socket.on('close', (failed) => events.push(`close ${failed}`));
  return { events, bytes: () => bytes };
}

const isOver = (events: readonly string[]): boolean => events.some((event) => event.startsWith('close'));

const HOW = ['is idle', 'waits for a blocked reply', 'has sent a request that was not read'] as const;
const seen = { [HOW[0]]: PLAIN, [HOW[1]]: PLAIN, [HOW[2]]: RESET };
const requests = { [HOW[0]]: '', [HOW[1]]: 'BLPOP q 0\r\n', [HOW[2]]: 'PING\r\n' };

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  // After SIGTERM it may still read and answer earlier requests.
  test.skipIf(!hasRedisServer).each(signal === 'SIGTERM' ? HOW.slice(0, 2) : HOW)(
    `a client of a redis-server that ends by ${signal} and %s (needs redis-server)`,
    async (how) => {
      await using redis = await startRedisServer({ tcp: true });
      const socket = connect(redis.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.write('INFO server\r\n');
      const pid = Number(await until(() => /process_id:(\d+)/.exec(text)?.[1]));
      const { events } = watch(socket);
      if (how === HOW[2]) {
        process.kill(pid, 'SIGSTOP');
        await until(() => / T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')), { what: 'the stop' });
      }
      await new Promise((sent) => socket.write(requests[how] || '', sent));
      if (how === HOW[1]) {
        const other = connect(redis.port, '127.0.0.1');
        const answers = watch(other);
        await until(() => other.write('CLIENT LIST\r\n') && answers.bytes() > 0);
        other.destroy();
      }
      process.kill(pid, signal);
      await until(() => isOver(events), { what: 'the close' });
      expect(events).toEqual(seen[how]);
    },
  );
}

test.each(HOW)('a client of a node that crashes and %s, on the real clock', async (how) => {
  await using pair = await startPair({ clock: 'real' });
  const socket = connect(pair.primary.port, '127.0.0.1');
  const { events, bytes } = watch(socket);
  socket.write('PING\r\n');
  await until(() => bytes() > 0);
  if (how === HOW[2]) pair.pause('redis-1');
  await new Promise((sent) => socket.write(requests[how] || '', sent));
  if (how === HOW[1]) await until(() => pair.primary.server.blocking.count > 0);
  await pair.primary.crash();
  await until(() => isOver(events), { what: 'the close' });
  expect(events).toEqual(seen[how]);
});

test.each(HOW)('a client of a node that crashes and %s, on the virtual clock', async (how) => {
  await using pair = await startPair({ clock: 'virtual' });
  const { socket } = await pair.run(() => ({ socket: connect(6379, 'redis-1') }));
  const { events } = watch(socket);
  await pair.run(() => void socket.write('PING\r\n'));
  await pair.advance(20);
  if (how === HOW[2]) pair.pause('redis-1');
  if (how !== HOW[0]) await pair.run(() => void socket.write(requests[how]));
  await pair.advance(20);
  pair.primary.crash();
  await pair.advance(20);
  expect(events).toEqual(seen[how]);
});

test('replies that a process sent before its death arrive, and their writes count as answered', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const a = pair.client('A');
  await a.ping();
  pair.link.hold();
  const link = pair.clientLink('A');
  link.back.delay(50);
  const reply = a.set('k', 'v');
  await pair.advance(20);
  const { lost, unanswered } = await pair.failover({ crash: true });
  expect([lost.map(({ key }) => key), unanswered]).toEqual([['k'], []]);
  expect(await reply).toBe('OK');
});
