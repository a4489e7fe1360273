/** Every wrong option of the lab's controls is refused with its name, its value and what is allowed, on both clocks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, type RealPair, startPair, startServers } from '../../index.ts';

const never = (value: unknown) => value as never;

describe.each(['virtual', 'real'] as const)('on the %s clock', (clock) => {
  let pair: Pair | RealPair;
  beforeAll(async () => {
    pair = await (clock === 'virtual' ? startPair({ clock }) : startPair({ clock }));
  });
  afterAll(() => pair.close());

  test.each<[what: string, call: (pair: Pair) => unknown, option: string]>([
    ['messages below none', ({ link }) => link.release({ messages: -1 }), 'release.messages'],
    ['bytes in words', ({ link }) => link.release({ bytes: never('all') }), 'release.bytes'],
    ['a misspelt amount', ({ link }) => link.release(never({ message: 1 })), 'release.message'],
    ['a delay back in time', ({ link }) => link.delay(-1), 'delay'],
    ['an endless latency', ({ link }) => link.commands.pace({ latency: Infinity }), 'pace.latency'],
    ['half a message', ({ link }) => link.commands.drop(0.5), 'drop'],
    ['messages that are no number', ({ link }) => link.acks.duplicate(Number.NaN), 'duplicate'],
    ['a jump in words', ({ primary }) => primary.clock.jump(never('1 s')), 'jump'],
    ['a clock that stands still', ({ primary }) => primary.clock.drift(0), 'drift'],
    ['a misspelt crash', ({ primary }) => primary.crash(never({ kep: 'everything' })), 'crash.kep'],
    ['a disk that keeps some', ({ primary }) => primary.crash({ keep: never('some') }), 'crash.keep'],
    ['a misspelt failover', (it) => it.failover(never({ crsh: true })), 'failover.crsh'],
    ['a failover with a crash in words', (it) => it.failover({ crash: never('yes') }), 'failover.crash'],
    ['a failover before now', (it) => it.failover({ after: -1 }), 'failover.after'],
  ])('%s is refused, and nothing has changed', async (_what, call, option) => {
    const { primary } = pair;
    const error = await (async () => call(pair as Pair))().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toContain(`lostlock: option ${option} is `);
    expect((error as TypeError).message).toContain('; allowed: ');
    expect(pair.primary).toBe(primary);
    expect(primary.up).toBe(true);
  });
});

test.each<[what: string, options: object, option: string]>([
  ['no clock', {}, 'clock'],
  ['another clock', { clock: 'sun' }, 'clock'],
  ['a misspelt option', { clock: 'virtual', sed: 7 }, 'startServers.sed'],
  ['a seed that is an object', { clock: 'virtual', seed: {} }, 'seed'],
  ['a start in words', { clock: 'virtual', start: 'now' }, 'start'],
  ['a network faster than light', { clock: 'virtual', network: { latency: -1 } }, 'network.latency'],
  ['a setting that does not exist', { clock: 'virtual', settings: { maxmemry: 1 } }, 'settings.maxmemry'],
  ['a setting of another type', { clock: 'real', settings: { maxmemory: '1mb' } }, 'settings.maxmemory'],
  ['a seed for real time', { clock: 'real', seed: 7 }, 'startServers.seed'],
  ['primaries below one', { clock: 'virtual', primaries: 0 }, 'primaries'],
])('servers with %s do not start', async (_what, options, option) => {
  await expect(startServers(never(options))).rejects.toThrow(`lostlock: option ${option} is `);
});
