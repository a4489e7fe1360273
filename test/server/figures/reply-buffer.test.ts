/** The reply buffers that Redis would have: they shrink while a client is idle, and grow when it uses them. */
import { expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { Conversation } from '../../transcripts/own.ts';

freshServerForEachTest();

test('the reply buffer of an idle client shrinks, and one that is full grows', () => {
  const [admin, client] = [new Conversation(server), new Conversation(server)];
  client.ask('CLIENT SETNAME it');
  const size = (): number => Number(/ name=it .*? rbs=(\d+) /.exec(admin.ask('CLIENT LIST'))?.[1]);
  const resized = (): string => (admin.ask('INFO stats').match(/reply_buffer_\w+:\d+/g) ?? []).join(' ');
  expect(size()).toBe(16384);
  host.advance(250);
  expect(size()).toBe(1024);
  expect(admin.ask('DEBUG REPLYBUFFER peak-reset-time never')).toBe('+OK');
  admin.ask('CONFIG RESETSTAT');
  client.ask('SETRANGE big 32768 x');
  const sizes = [1, 2, 3, 4, 5].map(() => {
    client.ask('GET big');
    host.advance(100);
    return size();
  });
  expect(sizes).toEqual([2048, 4096, 8192, 16384, 16384]);
  expect(resized()).toMatch(/^reply_buffer_shrinks:0 reply_buffer_expands:[4-9]$/);
  admin.ask('DEBUG REPLYBUFFER peak-reset-time reset');
  host.advance(6000);
  client.ask('PING');
  expect(size()).toBe(1024);
  expect(admin.ask('DEBUG REPLYBUFFER resizing 0')).toBe('+OK');
  client.ask('GET big');
  host.advance(1000);
  expect(size()).toBe(1024);
});

test('DEBUG REPLYBUFFER refuses what it does not know', () => {
  const admin = new Conversation(server);
  expect(admin.ask('DEBUG replyBuffer other 1')).toBe(
    "-ERR unknown subcommand or wrong number of arguments for 'replyBuffer'. Try DEBUG HELP.",
  );
  expect(admin.ask('DEBUG REPLYBUFFER peak-reset-time x')).toBe(
    '-ERR value is not an integer or out of range',
  );
});
