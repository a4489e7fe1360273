/** Each wrong option of a server is refused, with its name, its value and what is allowed, before anything changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { defaultSettings } from '../../server/settings/settings.ts';

const never = (value: unknown) => value as never;

test.each<[what: string, options: object, message: string]>([
  ['a port beyond the last', { port: 70_000 }, 'port is 70000; allowed: an integer from 0 to 65535'],
  ['a port below the first', { port: -1 }, 'port is -1; allowed: an integer from 0'],
  ['half a port', { port: 0.5 }, 'port is 0.5; allowed: an integer'],
  ['a port in words', { port: '6379' }, "port is '6379'; allowed: an integer"],
  ['an address that is a number', { host: 127 }, 'host is 127; allowed: a string that is not empty'],
  ['an address of nothing', { host: '' }, "host is ''; allowed: a string that is not empty"],
  ['a socket without a path', { unixSocket: '' }, "unixSocket is ''; allowed: a string"],
  ['an empty password', { password: '' }, "password is ''; allowed: a string that is not empty"],
  ['no databases', { databases: 0 }, 'databases is 0; allowed: an integer from 1'],
  ['a dump file without a name', { rdbFile: '' }, "rdbFile is ''; allowed: a string"],
  ['replicas below none', { replicas: -1 }, 'replicas is -1; allowed: an integer from 0 to 100'],
  ['keepAlive in words', { keepAlive: 'no' }, "keepAlive is 'no'; allowed: true or false"],
  ['a server that does not exist', { dialect: 'redis-9.9' }, "dialect is 'redis-9.9'; allowed: 'redis-7.0'"],
  ['strictness in words', { strict: 'yes' }, "strict is 'yes'; allowed: true or false"],
  ['a log that is a path', { log: 'log.txt' }, "log is 'log.txt'; allowed: a function (level, text)"],
  ['a misspelt option', { prot: 1 }, 'startServer.prot is 1; allowed: the options port'],
  ['a setting that does not exist', { settings: { 'max-clients': 1 } }, 'settings.max-clients is 1'],
  [
    'a setting of another type',
    { settings: { maxclients: 'many' } },
    "settings.maxclients is 'many'; allowed: a",
  ],
  [
    'an append-only file',
    { settings: { appendonly: true } },
    'settings.appendonly is true; allowed: false (lostlock keeps an append-only file only where dir,',
  ],
  [
    'a file of users beside users',
    { settings: { aclfile: 'users.acl' }, users: { alice: 'on' } },
    "users is { alice: 'on' }; allowed: {} with settings.aclfile",
  ],
  ['a file of its number', { settings: { pidfile: 'x.pid' } }, "settings.pidfile is 'x.pid'; allowed: ''"],
  ['settings that are null', { settings: null }, 'settings is null; allowed: an object of options'],
  ['settings that are a number', { settings: 5 }, 'settings is 5; allowed: an object of options'],
  [
    'a parameter as an option',
    { maxmemory: 1 },
    'startServer.maxmemory is 1; allowed: the option settings.maxmemory instead',
  ],
  [
    'a parameter with an option',
    { requirepass: 'x' },
    "startServer.requirepass is 'x'; allowed: the option password instead",
  ],
  [
    'a password that its replica would not know',
    { replicas: 1, settings: { requirepass: 'a' } },
    "settings.requirepass is 'a'; allowed: '' with replicas or sentinels (use the option password)",
  ],
  [
    'a password that its Sentinels would not know',
    { sentinels: 1, settings: { requirepass: 'a' } },
    "settings.requirepass is 'a'; allowed: '' with replicas or sentinels (use the option password)",
  ],
  [
    'a setting in camel case',
    { settings: { maxmemoryPolicy: 'x' } },
    "settings.maxmemoryPolicy is 'x'; allowed: the parameters of redis.conf; did you mean maxmemory-policy?",
  ],
  [
    'a seed that is not a number',
    { seed: { a: Number.NaN } },
    'seed is { a: NaN }; allowed: strings, numbers other than NaN',
  ],
  [
    'sentinels in words',
    { sentinels: '3' },
    "sentinels is '3'; allowed: an integer from 0 to 100, or an object",
  ],
  [
    'a list of sentinels',
    { sentinels: [] },
    'sentinels is []; allowed: an integer from 0 to 100, or an object',
  ],
  ['a seed that is a number', { seed: 5 }, 'seed is 5; allowed: an object of keys with their values'],
])('a server with %s does not start', async (_what, options, message) => {
  const error = await startServer(never(options)).then(
    async (server) => server.stop(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`lostlock: option ${message}`);
  expect(error).toMatchObject({ code: 'LOSTLOCK_BAD_OPTION', option: message.split(' is ')[0] });
});

test('the error for a wrong option has the name, the value and what is allowed as properties', async () => {
  const error = await startServer({ port: 70_000 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: 'TypeError',
    code: 'LOSTLOCK_BAD_OPTION',
    option: 'port',
    value: 70_000,
    allowed: 'an integer from 0 to 65535',
    message: 'lostlock: option port is 70000; allowed: an integer from 0 to 65535',
  });
  expect(Object.keys(error as object)).not.toContain('value'); // A large object would flood the printed error.
});

test('options that are not an object are refused', async () => {
  await expect(startServer(never(5))).rejects.toThrow(
    'option startServer is 5; allowed: an object of options',
  );
  await expect(startServer(never([]))).rejects.toThrow('option startServer is []; allowed: an object');
  await expect(startServer(never(null))).rejects.toThrow('option startServer is null; allowed: an object');
});

const INT = 2 ** 31 - 1;
const INT64 = '9223372036854775807';

test.each<[name: string, value: unknown, allowed: string]>([
  ['slowlog-max-len', -1, `an integer from 0 to ${INT64}`],
  ['maxclients', 0, 'an integer from 1 to 4294967295'],
  ['maxclients', 1.5, 'an integer from 1 to 4294967295'],
  ['databases', 0, `an integer from 1 to ${INT}`],
  ['timeout', -5, `an integer from 0 to ${INT}`],
  ['maxmemory-samples', 0, 'an integer from 1 to 64'],
  ['hash-max-listpack-entries', -1, `an integer from 0 to ${INT64}`],
  ['min-replicas-to-write', -1, `an integer from 0 to ${INT}`],
  ['replica-priority', -1, `an integer from 0 to ${INT}`],
  ['hz', 0, '1 (redis-server takes it as this)'],
  ['maxmemory', -1, 'a number of bytes from 0 to 18446744073709551615'],
  ['maxmemory', '100mb', 'a number of bytes from 0 to 18446744073709551615'],
  ['proto-max-bulk-len', 1, `a number of bytes from 1048576 to ${INT64}`],
  ['repl-backlog-size', 1.5, `a number of bytes from 1 to ${INT64}`],
  ['repl-backlog-size', NaN, `a number of bytes from 1 to ${INT64}`],
  ['appendfsync', 'sometimes', "'everysec', 'always', 'no'"],
  ['maxmemory-policy', 'allkeys-lruu', "'volatile-lru', 'volatile-lfu', 'volatile-random',"],
  ['maxmemory-policy', 'ALLKEYS-LRU', "'allkeys-lru' (redis-server takes it as this)"],
  ['loglevel', 'loud', "'debug', 'verbose', 'notice', 'warning', 'nothing'"],
  ['enable-debug-command', 'foo', "'no', 'yes', 'local'"],
  ['acl-pubsub-default', 'x', "'allchannels', 'resetchannels'"],
  ['tls-auth-clients', 'maybe', "'no', 'yes', 'optional'"],
  ['lazyfree-lazy-expire', 'yes', 'true or false'],
  ['save', 'abc', 'a string (Invalid save parameters)'],
  ['unixsocketperm', '999', "a string (argument couldn't be parsed into an integer)"],
  ['notify-keyspace-events', 'Q!', 'a string (Invalid event class character.'],
  ['client-output-buffer-limit', 'x', 'a string (Wrong number of arguments in buffer limit configuration.)'],
  ['port', 7000, 'no value (use the option port)'],
  ['bind', '0.0.0.0', 'no value (use the option host)'],
  ['unixsocket', '/tmp/x', 'no value (use the option unixSocket)'],
])('a server with the setting %s %o does not start', async (name, value, allowed) => {
  const error = await startServer({ settings: { [name]: value } }).then(
    async (started) => started.stop(),
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'LOSTLOCK_BAD_OPTION', option: `settings.${name}` });
  expect((error as TypeError).message).toContain(`; allowed: ${allowed}`);
});

test('the default of every parameter is allowed, and values that only some servers take are allowed there', async () => {
  const { port: _port, bind: _bind, unixsocket: _path, ...settings } = defaultSettings();
  await (await startServer({ settings })).stop();
  const later = { loglevel: 'nothing', 'notify-keyspace-events': 'AKEoc' } as const;
  await (await startServer({ settings: later })).stop();
  await expect(startServer({ dialect: 'redis-7.0', settings: later })).rejects.toThrow('settings.loglevel');
});

let server: LostlockServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const REPLY = { reply: null };

test.each([
  ['gte', 'get'],
  ['GETS', 'get'],
  ['client lsit', 'client list'],
  ['config|get', undefined],
  ['JSON.GET', undefined],
  ['somethingelse', ''],
])('intercept({ command: %o }) suggests %o', (command, meant) => {
  const add = () => server.intercept({ command }, REPLY).remove();
  if (meant === undefined) expect(add).not.toThrow();
  else if (meant === '') expect(add).toThrow(/allowed: the name of a command$/);
  else expect(add).toThrow(`did you mean '${meant}'?`);
});

test.each<[what: string, call: () => unknown, option: string]>([
  ['a misspelt filter', () => server.intercept(never({ comand: 'get' }), REPLY), 'intercept.comand'],
  ['no filter', () => server.intercept(never(null), REPLY), 'intercept'],
  ['a match before the first', () => server.intercept({ nth: 0 }, REPLY), 'intercept.nth'],
  ['a command that is a number', () => server.intercept({ command: never(1) }, REPLY), 'intercept.command'],
  ['a command that does not exist', () => server.intercept({ command: 'gte' }, REPLY), 'intercept.command'],
  ['a subcommand of none', () => server.intercept({ command: 'get list' }, REPLY), 'intercept.command'],
  ['an empty command', () => server.intercept({ command: '' }, REPLY), 'intercept.command'],
  [
    'an argument that is a number',
    () => server.intercept({ argument: never(1) }, REPLY),
    'intercept.argument',
  ],
  ['a client that is a number', () => server.intercept({ client: never(1) }, REPLY), 'intercept.client'],
  ['a condition in words', () => server.intercept({ when: never('always') }, REPLY), 'intercept.when'],
  ['a delay back in time', () => server.intercept({}, { delayMs: -1 }), 'intercept.delayMs'],
  ['another word', () => server.intercept({}, never('explode')), 'intercept'],
  ['an intervention of no kind', () => server.intercept({}, never({ replies: 1 })), 'intercept'],
  ['no intervention', () => server.intercept({}, never(null)), 'intercept'],
  ['an error that is a number', () => server.intercept({}, { error: never(5) }), 'intercept.error'],
  ['an empty error', () => server.intercept({}, { error: '' }), 'intercept.error'],
  ['a reply that is an object', () => server.intercept({}, { reply: never({}) }), 'intercept.reply'],
  ['a reply that holds one', () => server.intercept({}, { reply: [[never({})]] }), 'intercept.reply'],
  ['a script without text', () => server.scripts.register('', () => null), 'scripts.register'],
  ['a script that is a number', () => server.scripts.register(never(1), () => null), 'scripts.register'],
  [
    'a function that is none',
    () => server.scripts.register('return 1', never('return 1')),
    'scripts.register',
  ],
])('%s is refused', (_what, call, option) => {
  const error = (() => {
    try {
      return call();
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`lostlock: option ${option} is `);
  expect((error as TypeError).message).toContain('; allowed: ');
  expect(server.node.interceptor).toBeUndefined();
});

test.each(['2030', '2030-01-01', null, Number.NaN, new Date('x')])('setTime(%o) is refused', (date) => {
  expect(() => server.setTime(never(date))).toThrow(
    /^lostlock: option setTime is .*; allowed: a Date, or milli/,
  );
});

test.each<[options: object, meant: string]>([
  [{ prot: 6379 }, 'did you mean port?'],
  [{ Password: 'x' }, 'did you mean password?'],
  [{ setting: {} }, 'did you mean settings?'],
])('%o: the error suggests the option that was probably meant', async (options, meant) => {
  await expect(startServer(options)).rejects.toThrow(meant);
});
