/** The log of writes: when the reply to a write counts as arrived. */
import { expect, test } from 'vitest';
import { type NextSend, type Watched, WriteLog } from '../../../lab/replica-group/write-log.ts';
import { toBuffer } from '../../../protocol/bytes.ts';
import { encodeRequest } from '../../../protocol/encode.ts';
import type { Connection } from '../../../server/host/host.ts';
import { freshServerForEachTest, server } from '../../support/fresh.ts';

freshServerForEachTest();

test('a reply that was not sent has not arrived, even if the far end has received everything', () => {
  const waiting: NextSend[] = [];
  const asked: number[] = [];
  const connection: Connection & Watched = {
    remote: '127.0.0.1:1',
    local: '127.0.0.1:2',
    peer: 'A',
    pending: 0,
    send: () => {},
    afterNextSend: (next) => void waiting.push(next),
    delivered: (position) => asked.push(position) > 0,
    close: () => {},
    abort: () => {},
    pause: () => {},
    resume: () => {},
  };
  const log = new WriteLog();
  log.watch(server);
  server.connections.accept(connection)?.receive(toBuffer(encodeRequest(['SET', 'a', '1'])));
  const [write] = log.writes;
  expect(write).toMatchObject({ key: 'a', client: 'A', holder: '1' });
  expect(log.isAnswered(write!)).toBe(false);
  expect(asked).toEqual([]);
  waiting[0]!.endsAt(5);
  expect(log.isAnswered(write!)).toBe(true);
  expect(asked).toEqual([5]);
});
