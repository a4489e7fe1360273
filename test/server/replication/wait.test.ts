/** Which of a client's requests WAIT waits for: by the rule of each dialect. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { answers, expectedOf } from './wait-cases.ts';

describe.each(dialectNames)('%s', (dialect) => {
  test('WAIT counts the replicas with the writes that the dialect says', async () => {
    await using pair = await startPair({
      clock: 'virtual',
      seed: 1,
      dialect,
      network: { latency: 1, jitter: 0 },
      settings: { 'enable-debug-command': 'yes' },
    });
    const { primary, link } = pair;
    const stage = { port: primary.port, hold: () => link.hold(), release: () => link.release() };
    await pair.run(async () => {
      const operator = pair.client('operator');
      const ready = async (): Promise<void> => {
        await operator.set('ready', '1');
        expect(await operator.wait(1, 0)).toBe(1);
      };
      expect(await answers(stage, ready)).toEqual(expectedOf(dialect));
    });
  });

  test('WAIT waits for the DEL of a key that MIGRATE has moved', async () => {
    await using pair = await startPair({ clock: 'virtual', seed: 1, dialect, replicas: 2 });
    await pair.run(async () => {
      const a = pair.client('A');
      const target = await RawClient.connect({ port: pair.node('redis-3').port });
      await target.ask('REPLICAOF', 'NO', 'ONE');
      await a.set('moved', '1');
      expect(await a.wait(1, 0)).toBe(1);
      pair.linkTo('redis-2').hold();
      expect(
        await a.call('MIGRATE', '127.0.0.1', String(pair.node('redis-3').port), 'moved', '0', '1000'),
      ).toBe('OK');
      expect(await a.wait(1, 20)).toBe(0);
    });
  });
});
