/** Every wrong option of the lab's controls is refused with its name, its value and what is allowed, on both clocks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, type RealClockPair, startCluster, startPair, startServers } from '../../index.ts';

const never = (value: unknown) => value as never;

describe.each(['virtual', 'real'] as const)('on the %s clock', (clock) => {
  let pair: Pair | RealClockPair;
  beforeAll(async () => {
    pair = await (clock === 'virtual' ? startPair({ clock }) : startPair({ clock }));
  });
  afterAll(() => pair.close());

  test.each<[what: string, call: (pair: Pair) => unknown, option: string]>([
    ['messages below none', ({ link }) => link.release({ messages: -1 }), 'release.messages'],
    ['bytes in words', ({ link }) => link.release({ bytes: never('all') }), 'release.bytes'],
    ['a misspelt amount', ({ link }) => link.release(never({ message: 1 })), 'release.message'],
    ['an amount that is a number', ({ link }) => link.release(never(1)), 'release'],
    ['a delay back in time', ({ link }) => link.delay(-1), 'delay'],
    ['a delay in words', ({ link }) => link.delay(never('5')), 'delay'],
    ['a bandwidth of nothing', ({ link }) => link.bandwidth(0), 'bandwidth'],
    ['an end back in time', ({ link }) => link.slowClose(-1), 'slowClose'],
    ['a delay that is no number', ({ link }) => link.delay(Number.NaN), 'delay'],
    ['an endless latency', ({ link }) => link.commands.pace({ latency: Infinity }), 'pace.latency'],
    ['jitter below none', ({ link }) => link.commands.pace({ jitter: -1 }), 'pace.jitter'],
    ['a misspelt pace', ({ link }) => link.commands.pace(never({ latncy: 1 })), 'pace.latncy'],
    ['half a message', ({ link }) => link.commands.drop(0.5), 'drop'],
    ['messages that are no number', ({ link }) => link.acks.duplicate(Number.NaN), 'duplicate'],
    ['messages in words', ({ link }) => link.acks.duplicate(never('2')), 'duplicate'],
    ['a jump in words', ({ primary }) => primary.clock.jump(never('1 s')), 'jump'],
    ['a jump without end', ({ primary }) => primary.clock.jump(Infinity), 'jump'],
    ['a jump out of all calendars', ({ primary }) => primary.clock.jump(1e300), 'jump'],
    ['an offset below none', ({ primary }) => primary.crash({ keep: { offset: -5 } }), 'crash.keep'],
    ['client options in a number', (it) => it.client('Z', never(5)), 'client.options'],
    ['a clock that stands still', ({ primary }) => primary.clock.drift(0), 'drift'],
    ['a clock without end', ({ primary }) => primary.clock.drift(Infinity), 'drift'],
    ['a misspelt crash', ({ primary }) => primary.crash(never({ kep: 'everything' })), 'crash.kep'],
    ['a crash in a word', ({ primary }) => primary.crash(never('nothing')), 'crash'],
    ['a disk that keeps some', ({ primary }) => primary.crash({ keep: never('some') }), 'crash.keep'],
    ['a disk that keeps null', ({ primary }) => primary.crash({ keep: never(null) }), 'crash.keep'],
    ['half an offset', ({ primary }) => primary.crash({ keep: { offset: 0.5 } }), 'crash.keep'],
    ['silence in words', ({ primary }) => primary.crash({ silent: never('yes') }), 'crash.silent'],
    ['a misspelt failover', (it) => it.failover(never({ crsh: true })), 'failover.crsh'],
    ['a failover with a crash in words', (it) => it.failover({ crash: never('yes') }), 'failover.crash'],
    ['a failover with no crash', (it) => it.failover({ crash: never(null) }), 'failover.crash'],
    [
      'a failover with a misspelt crash',
      (it) => it.failover({ crash: never({ kep: 1 }) }),
      'failover.crash.kep',
    ],
    ['a failover before now', (it) => it.failover({ after: -1 }), 'failover.after'],
    ['a failover to a number', (it) => it.failover({ to: never(2) }), 'failover.to'],
    ['a failover to nobody', (it) => it.failover({ to: 'redis-9' }), 'failover.to'],
    ['a client without a name', (it) => it.client(''), 'client'],
    ['a client with the name of a node', (it) => it.client('redis-1'), 'client'],
    ['an actor that decides on failovers', (it) => it.actor('failover'), 'actor'],
    ['an actor with a number', (it) => it.actor(never(7)), 'actor'],
    ['a demotion in words', (it) => it.failover({ demote: never('no') }), 'failover.demote'],
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
  ['another clock', { clock: 'sun' }, 'clock'],
  ['a misspelt option', { clock: 'virtual', sed: 7 }, 'startServers.sed'],
  ['a misspelt option in real time', { clock: 'real', quorm: true }, 'startServers.quorm'],
  ['a seed that is an object', { clock: 'virtual', seed: {} }, 'seed'],
  ['a start in words', { clock: 'virtual', start: 'now' }, 'start'],
  ['a start that no Date knows', { clock: 'virtual', start: 8.64e15 }, 'start'],
  ['patience below none', { clock: 'virtual', patience: -1 }, 'patience'],
  ['a network faster than light', { clock: 'virtual', network: { latency: -1 } }, 'network.latency'],
  ['a network that is misspelt', { clock: 'virtual', network: { delay: 1 } }, 'network.delay'],
  ['a setting that does not exist', { clock: 'virtual', settings: { maxmemry: 1 } }, 'settings.maxmemry'],
  ['a setting of another type', { clock: 'real', settings: { maxmemory: '1mb' } }, 'settings.maxmemory'],
  ['a quorum in words', { clock: 'virtual', quorum: 'yes' }, 'quorum'],
  ['a quorum in words, in real time', { clock: 'real', quorum: 'yes' }, 'quorum'],
  ['primaries below one', { clock: 'virtual', primaries: 0 }, 'primaries'],
  ['primaries below one, in real time', { clock: 'real', primaries: 0 }, 'primaries'],
  ['replicas below none', { clock: 'virtual', replicas: -1 }, 'replicas'],
  ['replicas below none, in real time', { clock: 'real', replicas: -1 }, 'replicas'],
  ['the pace of scripts in a word', { clock: 'virtual', scripts: 'x' }, 'scripts'],
  ['a misspelt pace of scripts', { clock: 'virtual', scripts: { cost: -5 } }, 'scripts.cost'],
  ['scripts before now', { clock: 'virtual', scripts: { millis: -1 } }, 'scripts.millis'],
  ['a pace that is no number', { clock: 'virtual', scripts: { millis: Number.NaN } }, 'scripts.millis'],
  ['slices of nothing', { clock: 'virtual', scripts: { slice: 0 } }, 'scripts.slice'],
  ['a port of every node', { clock: 'virtual', settings: { port: 5799 } }, 'settings.port'],
  ['a port of every node in real time', { clock: 'real', settings: { port: 5799 } }, 'settings.port'],
  ['one port for two primaries', { clock: 'real', primaries: 2, port: 5799 }, 'port'],
  ['a port for TLS', { clock: 'virtual', settings: { 'tls-port': 1 } }, 'settings.tls-port'],
  [
    'TLS to the primary',
    { clock: 'real', settings: { 'tls-replication': true } },
    'settings.tls-replication',
  ],
])('servers with %s do not start', async (_what, options, option) => {
  await expect(startServers(never(options))).rejects.toThrow(`lostlock: option ${option} is `);
});

test.each([
  [{ clock: 'lunar' }, "option clock is 'lunar'; allowed: 'virtual' (the default) or 'real'"],
  [
    { clock: 'virtual', sed: 7 },
    'option startServers.sed is 7; allowed: the options clock, primaries, replicas, settings',
  ],
  [
    { clock: 'real', seed: 7 },
    "option startServers.seed is 7; allowed: only with clock: 'virtual' (real threads",
  ],
  [{ clock: 'real', start: 0 }, "option startServers.start is 0; allowed: only with clock: 'virtual'"],
  [{ clock: 'real', patience: 1 }, "option startServers.patience is 1; allowed: only with clock: 'virtual'"],
  [{ clock: 'real', network: {} }, "option startServers.network is {}; allowed: only with clock: 'virtual'"],
  [{ clock: 'real', scripts: {} }, "option startServers.scripts is {}; allowed: only with clock: 'virtual'"],
  [{ clock: 'real', primaries: 0 }, 'option primaries is 0; allowed: an integer from 1 to 100'],
  [{ clock: 'real', settings: { port: 1 } }, 'option settings.port is 1; allowed: no value (the lab chooses'],
  [
    { clock: 'virtual', settings: { 'slowlog-max-len': -1 } },
    'option settings.slowlog-max-len is -1; allowed: an integer from 0',
  ],
  [
    { dialect: { 'redis-1': 'redis-7.0' }, settings: { loglevel: 'nothing' } },
    "option settings.loglevel is 'nothing'; allowed: 'debug', 'verbose', 'notice', 'warning'",
  ],
])('the error for %o says what is allowed', async (options, message) => {
  await expect(startServers(never(options))).rejects.toThrow(message);
});

test.each(['virtual', 'real'] as const)('a pair has one primary on the %s clock', async (clock) => {
  const wrong = startPair(never({ clock, primaries: 2 }));
  await expect(wrong).rejects.toThrow('option startPair.primaries is 2');
});

test('the error for a wrong `crash` says what is allowed', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  await expect(pair.failover({ crash: never(null) })).rejects.toThrow(
    'option failover.crash is null; allowed: true, false or the options of a crash',
  );
});

test('all later messages may be lost, until 0 ends it', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const { commands } = pair.link;
  expect(() => commands.drop(Infinity)).not.toThrow();
  expect(() => commands.duplicate(Infinity)).not.toThrow();
  expect(() => commands.drop(0)).not.toThrow();
});

test.each<[what: string, call: (pair: Pair) => Promise<unknown>, option: string]>([
  ['time in words', (pair) => pair.advance(never('100')), 'advance'],
  ['time back', (pair) => pair.advance(-1), 'advance'],
  ['time that is no number', (pair) => pair.advance(Number.NaN), 'advance'],
  ['time without end', (pair) => pair.advance(Infinity), 'advance'],
  ['no time', (pair) => pair.advance(never(undefined)), 'advance'],
  ['no code', (pair) => pair.run(never(Promise.resolve())), 'run'],
  ['code with a limit in words', (pair) => pair.run(() => 1, never('5')), 'run.maxMs'],
  ['a wait for no promise', (pair) => pair.until(never(7)), 'until'],
  ['a wait with a limit in words', (pair) => pair.until(Promise.resolve(), never('5')), 'until.maxMs'],
])('%s is refused with an error that names it', async (_what, call, option) => {
  await using pair = await startPair();
  const error = await call(pair).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`lostlock: option ${option} is `);
});

test('without options the clock is virtual', async () => {
  await using pair = await startPair();
  await using servers = await startServers({ primaries: 2 });
  const before = pair.world.elapsed();
  await pair.advance(100);
  expect(pair.world.elapsed() - before).toBe(100_000);
  await servers.advance(100);
  expect(servers.nodes).toHaveLength(2);
  await expect(startPair(never(null))).rejects.toThrow(
    'option startPair is null; allowed: an object of options',
  );
  await expect(startServers(never(7))).rejects.toThrow(
    'option startServers is 7; allowed: an object of options',
  );
});

test.each(['virtual', 'real'] as const)(
  'controls of a closed pair say so, on the %s clock',
  async (clock) => {
    const pair = (await (clock === 'virtual' ? startPair({ clock }) : startPair({ clock }))) as Pair;
    const { link, primary, network } = pair;
    const client = pair.clientLink('A');
    await pair.close();
    await pair.close();
    const calls: (() => unknown)[] = [
      () => pair.client('A'),
      () => pair.actor('A'),
      () => pair.link,
      () => pair.linkTo('redis-2'),
      () => pair.clientLink('A'),
      () => pair.failover(),
      () => pair.promote('redis-2'),
      () => pair.demote('redis-2'),
      () => pair.pause('redis-1'),
      () => pair.resume('redis-1'),
      () => pair.restart('redis-1'),
      () => link.hold(),
      () => link.release(),
      () => link.delay(1),
      () => client.out.drop(1),
      () => client.partition(),
      () => client.pace({ latency: 1 }),
      () => network.lane('A', 'redis-1').hold(),
      () => primary.crash(),
      () => primary.restart(),
      () => primary.pause(),
      () => primary.promote(),
      () => primary.clock.jump(1),
      () => primary.clock.drift(2),
      () => network.reset('A', 'redis-1'),
      () => client.reset(),
    ];
    if (clock === 'virtual') {
      calls.push(() => pair.advance(1));
      calls.push(() => pair.run(() => 1));
      calls.push(() => pair.until(Promise.resolve()));
      calls.push(() => pair.kill('redis-1'));
      calls.push(() => primary.actor.pause());
    }
    for (const call of calls) {
      const error = await (async () => call())().catch((thrown: unknown) => thrown);
      expect(String(error), String(call)).toMatch(/^Error: (this world is|these nodes are) closed/);
    }
    expect(pair.lost).toEqual([]);
  },
);

test.each(['port', 'bind', 'dir', 'daemonize'] as const)(
  'a real server does not start with the setting %s, which the lab needs',
  async (name) => {
    const nodes = process.execPath;
    const wrong = startPair({ clock: 'real', nodes, settings: { [name]: name } });
    await expect(wrong).rejects.toThrow(`option settings.${name} is '${name}'; allowed: no value`);
  },
);

test('a timeline with a misspelt note is refused', async () => {
  await using pair = await startPair();
  await using cluster = await startCluster({ clock: 'virtual', primaries: 3, replicas: 0 });
  await using real = await startPair({ clock: 'real', trace: true });
  for (const recorded of [pair, cluster, real])
    expect(() => recorded.timelineData(never({ foo: 1 }))).toThrow('lostlock: option timelineData.foo is 1');
  expect(() => real.timelineData(never({ steps: [] }))).toThrow('allowed: the options title');
});

test('the controls of the Sentinels of a closed pair say so, and a failover that waits for them rejects', async () => {
  const pair = await startPair({ clock: 'real', replicas: 2, sentinels: 3 });
  const [sentinel] = pair.sentinels;
  const failover = expect(pair.failover({ crash: true })).rejects.toThrow(/^these nodes are closed/);
  await pair.close();
  await failover;
  for (const control of ['crash', 'restart', 'pause', 'resume'] as const) {
    const error = await (async () => sentinel![control]())().catch((thrown: unknown) => thrown);
    expect(String(error), control).toMatch(/^Error: these nodes are closed/);
  }
  expect(sentinel!.up).toBe(false);
});

test.each<[groups: unknown[]]>([[['redis-1', 'redis-2']], [[['redis-1'], [2]]], [[['redis-1'], ['']]]])(
  'a partition of %j is refused: a group is an array of names',
  async (groups) => {
    await using pair = await startPair();
    expect(() => pair.network.partition(...(groups as string[][]))).toThrow(
      /^lostlock: option partition is /,
    );
  },
);
