/** How waiting for a latch ends when the server refuses, does not reply, or cannot be reached. */
import { expect, test } from 'vitest';
import { ClientUnusable, OutcomeUnknown, ServerRefused } from '../../../locks/index.ts';
import { play } from '../quiet.ts';

test('a key of another type is refused', () =>
  play(async ({ raw, locks }) => {
    await raw.lpush('latch', 'x');
    const latch = locks('A').latch('latch');
    await expect(latch.await({ waitMs: 10 })).rejects.toThrow(ServerRefused);
    await expect(latch.getCount()).rejects.toThrow(ServerRefused);
  }));

test('without a reply the outcome is unknown', () =>
  play(async ({ pair, locks }) => {
    const latch = locks('A', { requestTimeoutMs: 100 }).latch('latch');
    await latch.getCount();
    pair.world.network.lane(pair.primary.name, 'A').hold();
    await expect(latch.await({ waitMs: 1000 })).rejects.toThrow(OutcomeUnknown);
  }));

test('a client that cannot send is unusable', () =>
  play(async ({ locks }) => {
    const closed = { send: () => Promise.reject(new Error('closed')), unusable: () => true };
    const latch = locks('A', {}, (client) => ({ ...client, ...closed })).latch('latch');
    await expect(latch.await({ waitMs: 10 })).rejects.toThrow(ClientUnusable);
  }));

test('an aborted signal is the reason', () =>
  play(async ({ raw, locks }) => {
    await raw.set('latch', 1);
    const stop = new AbortController();
    const waiting = locks('A').latch('latch').await({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  }));
