/** What blocking list commands do beyond the transcripts of redis-server 7.0 (test/transcripts/blocking-lists.txt). */
import { beforeEach, expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { recordEffects, Talk } from '../../support/talk.ts';

freshServerForEachTest();

let talk: Talk;

beforeEach(() => {
  talk = new Talk(server);
});

/** A connection that waits; answers once the server has parked it. */
async function waiter(line: string): Promise<Talk> {
  const waiting = new Talk(server);
  const before = server.blocking.total;
  waiting.send(line);
  await new Talk(server).ask('PING');
  expect(server.blocking.total).toBe(before + 1);
  return waiting;
}

test('blocking pops are replicated as the plain commands they amount to, after the push that served them', async () => {
  const effects = recordEffects(server);
  await talk.ask('RPUSH l 1 2 3 4 5 6');
  await talk.ask('BLPOP none l 0');
  await talk.ask('BRPOP l 0');
  await talk.ask('BRPOPLPUSH l m 0');
  await talk.ask('BLMOVE l m LEFT RIGHT 0');
  await talk.ask('BLMPOP 0 2 none l LEFT COUNT 9');
  await talk.ask('LMPOP 1 m RIGHT COUNT 1');
  expect(effects).toEqual([
    'RPUSH l 1 2 3 4 5 6',
    'LPOP l',
    'RPOP l',
    'RPOPLPUSH l m',
    'LMOVE l m LEFT RIGHT',
    'LPOP l 2',
    'RPOP m 1',
  ]);
  effects.length = 0;
  await waiter('BLPOP a b 0');
  await waiter('BLMOVE a m LEFT RIGHT 0');
  await waiter('BRPOPLPUSH a m 0');
  await waiter('BLMPOP 0 1 a RIGHT COUNT 9');
  await talk.ask('MULTI', 'RPUSH a 1 2', 'RPUSH a 3 4 5', 'EXEC');
  expect(effects).toEqual([
    'MULTI',
    'RPUSH a 1 2',
    'RPUSH a 3 4 5',
    'EXEC',
    'LPOP a',
    'LMOVE a m left right',
    'RPOPLPUSH a m',
    'RPOP a 2',
  ]);
});

test('clients that wait for the key again at once are served only by the next push', async () => {
  const waiters: Talk[] = [];
  for (let i = 0; i < 3; i++) {
    const waiting = await waiter('BLPOP l 0');
    waiting.send('BLPOP l 0', 'BLPOP l 0');
    waiters.push(waiting);
  }
  const popped = (text: string): string => `*2\r\n$1\r\nl\r\n$1\r\n${text}\r\n`;
  for (const texts of ['123', '456', '789']) {
    expect(await talk.ask(`RPUSH l ${texts.split('').join(' ')}`)).toBe(':3\r\n');
    for (const [i, waiting] of waiters.entries())
      expect(await waiting.hear()).toBe(popped(texts[i] as string));
  }
  expect(server.blocking.total).toBe(0);
});

test('CLIENT UNBLOCK ends a wait like a time-out, or with an error', async () => {
  const client = new Talk(server);
  const id = (await client.ask('CLIENT ID')).replace(/\D/g, '');
  client.send('BLPOP l 0');
  expect(await talk.ask(`CLIENT UNBLOCK ${id}`)).toBe(':1\r\n');
  expect(await client.hear()).toBe('*-1\r\n');
  client.send('BLMOVE l m LEFT LEFT 0', 'PING');
  expect(await talk.ask(`CLIENT UNBLOCK ${id} ERROR`)).toBe(':1\r\n');
  expect(await client.hear()).toBe('-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n+PONG\r\n');
  expect(await talk.ask(`CLIENT UNBLOCK ${id}`)).toBe(':0\r\n');
  expect(await talk.ask('RPUSH l x', 'LLEN l')).toContain(':1\r\n:1\r\n');
});

test('a wait lasts for the time-out, rounded up to whole milliseconds', async () => {
  for (const [seconds, millis] of [
    ['0.057', 57],
    ['1.0005', 1001],
    ['1e-9', 1],
    ['0x1p-1', 500],
  ] as const) {
    const waiting = await waiter(`BLPOP l ${seconds}`);
    host.advance(millis - 1);
    expect(server.blocking.total).toBe(1);
    host.advance(1);
    expect(server.blocking.total).toBe(0);
    expect(await waiting.hear()).toBe('*-1\r\n');
  }
});

test('a hundred waiters are served in the order of arrival, while some give up in between', async () => {
  const waiters: Talk[] = [];
  for (let i = 0; i < 100; i++) waiters.push(await waiter('BLPOP l 0'));
  for (let i = 0; i < 100; i += 3) waiters[i]!.hangUp();
  await talk.ask('PING');
  const left = waiters.filter((_, i) => i % 3 !== 0);
  await talk.ask(`RPUSH l ${left.map((_, i) => i).join(' ')}`);
  for (const [i, waiting] of left.entries()) expect(await waiting.hear()).toContain(`\r\n${i}\r\n`);
  expect(await talk.ask('LLEN l')).toBe(':0\r\n');
  expect(server.blocking.total).toBe(0);
});

test('an expired list serves no waiter, and the waiter goes on waiting', async () => {
  const waiting = await waiter('BLPOP l 0');
  await talk.ask('MULTI', 'SET l x PX 5', 'EXEC');
  host.advance(10);
  await talk.ask('RPUSH l y');
  expect(await waiting.hear()).toBe('*2\r\n$1\r\nl\r\n$1\r\ny\r\n');
});
