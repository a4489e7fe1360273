/** Observation: MONITOR, SLOWLOG, LATENCY, the times in INFO, and redirected tracking. */
import { beforeEach, expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { Beside, labelled } from '../../support/beside/beside.ts';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { Talk } from '../../support/talk.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';

freshServerForEachTest();

let a: Conversation;

beforeEach(() => {
  a = new Conversation(server);
});

/** Makes ECHO take so many milliseconds. */
function slowEcho(millis: number): void {
  const echo = server.commands.get('echo')!;
  Object.assign(server.commands, {
    get: (name: string) =>
      name === 'echo'
        ? {
            ...echo,
            run(_client: unknown, argv: string[]) {
              host.advance(millis);
              return argv[1];
            },
          }
        : Map.prototype.get.call(server.commands, name),
  });
}

test('MONITOR shows commands with time, database and origin, a script before its commands, and no secrets', async () => {
  const monitor = new Talk(server);
  expect(await monitor.ask('MONITOR')).toBe('+OK\r\n');
  a.ask('SELECT 3');
  a.ask('SET k "a\\"\\n\\x01"');
  a.ask('EVAL "return redis.call(\'get\', KEYS[1])" 1 k');
  a.ask('AUTH default secret');
  a.ask('HELLO 2 AUTH default secret');
  a.ask('MULTI');
  a.ask('GET k');
  a.ask('EXEC');
  a.ask('CONFIG GET port');
  a.ask('ACL SETUSER u >secret');
  a.ask('nosuch');
  const seen = await monitor.hear((bytes) => bytes.includes('"EXEC"'));
  expect(seen.split('\r\n')).toEqual([
    ...[
      '[3 me] "SELECT" "3"',
      '[3 me] "SET" "k" "a\\"\\n\\x01"',
      '[3 me] "EVAL" "return redis.call(\'get\', KEYS[1])" "1" "k"',
      '[3 lua] "get" "k"',
      '[3 me] "AUTH" "(redacted)" "(redacted)"',
      '[3 me] "HELLO" "2" "AUTH" "(redacted)" "(redacted)"',
      '[3 me] "MULTI"',
      '[3 me] "GET" "k"',
      '[3 me] "EXEC"',
    ].map((rest) => `+1700000000.000000 ${rest.replace(' me]', ' 127.0.0.1:1]')}`),
    '',
  ]);
  expect(await monitor.ask('GET k')).toContain("-ERR Replica can't interact with the keyspace");
  expect(a.ask('CLIENT LIST')).toMatch(/ flags=O /);
  expect(await monitor.ask('RESET')).toBe('+RESET\r\n');
  expect(server.observer.monitors.size).toBe(0);
  expect(server.observer.mask).not.toBe(0);
  a.ask('MULTI');
  a.ask('MONITOR');
  expect(a.ask('EXEC')).toBe("[-ERR MONITOR isn't allowed for DENY BLOCKING client]");
});

test('SLOWLOG keeps commands slower than the threshold, truncated, with the client', () => {
  a.ask('CONFIG SET slowlog-log-slower-than 0');
  a.ask('SLOWLOG RESET');
  a.ask('CLIENT SETNAME me');
  a.ask(`RPUSH l ${Array.from({ length: 40 }, (_, i) => i).join(' ')}`);
  a.ask(`SET k ${'x'.repeat(130)}`);
  a.ask('CONFIG SET requirepass secret');
  a.ask('CONFIG SET requirepass ""');
  a.ask("EVAL \"return redis.call('get', 'k')\" 0");
  const log = a.ask('SLOWLOG GET -1');
  expect(log).toContain('"27" "28" "... (11 more arguments)"]');
  expect(log).toContain(`"${'x'.repeat(128)}... (2 more bytes)"] `);
  expect(log).toContain('["CONFIG" "SET" "requirepass" "(redacted)"]');
  expect(log).toContain('["get" "k"] "?:0" ""]');
  expect(log).not.toContain('secret');
  expect(log).toMatch(/\[:\d+ :1700000000 :0 \["SET"/);
  expect(log).toContain('"me"]');
  a.ask('CONFIG SET slowlog-max-len 2');
  a.ask('PING');
  expect(a.ask('SLOWLOG LEN')).toBe(':2');
  expect(a.ask('SLOWLOG GET 1').match(/1700000000/g)).toHaveLength(1);
  expect(a.ask('SLOWLOG GET -2')).toBe('-ERR count should be greater than or equal to -1');
  expect(a.ask('SLOWLOG GET x')).toBe('-ERR count should be greater than or equal to -1');
  a.ask('CONFIG SET slowlog-log-slower-than -1');
  a.ask('SLOWLOG RESET');
  expect(a.ask('SLOWLOG LEN')).toBe(':0');
});

/** Changes of the slow log's settings, in and out of transactions; Redis applies each to its own call. */
const CHANGES = [
  ...['PING', 'CONFIG SET slowlog-log-slower-than 0', 'GET k', 'SLOWLOG LEN', 'SLOWLOG GET'],
  ...['CONFIG SET slowlog-max-len 2', 'SLOWLOG GET', 'CONFIG SET slowlog-max-len 1', 'SLOWLOG GET'],
  ...['CONFIG SET slowlog-max-len 0', 'SLOWLOG GET', 'CONFIG SET slowlog-max-len 10', 'SLOWLOG GET'],
  ...['SLOWLOG RESET', 'SLOWLOG GET', 'CONFIG SET slowlog-log-slower-than -1', 'PING', 'SLOWLOG GET'],
  ...[
    'CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 1',
    'CONFIG SET slowlog-log-slower-than 10000000',
  ],
  ...['SLOWLOG GET', 'CONFIG SET slowlog-max-len 20', 'SLOWLOG GET'],
  ...['MULTI', 'PING', 'CONFIG SET slowlog-log-slower-than 0', 'ECHO a', 'EXEC', 'SLOWLOG GET'],
  ...['MULTI', 'ECHO b', 'CONFIG SET slowlog-log-slower-than -1', 'ECHO c', 'EXEC', 'SLOWLOG GET'],
  ...[
    'CONFIG SET slowlog-log-slower-than 0',
    'CONFIG RESETSTAT',
    'CLIENT SETNAME n',
    'ECHO d',
    'SLOWLOG GET',
  ],
  ...[
    'CONFIG SET slowlog-log-slower-than -2',
    'CONFIG SET slowlog-max-len -1',
    'NOSUCH',
    'GET',
    'SLOWLOG GET',
  ],
];

test.skipIf(!hasRedisServer)(
  'a threshold or length applies from the call that sets it, as in redis-server (needs redis-server)',
  async () => {
    await using both = await Beside.start();
    const { ours, theirs } = await both.ask(...CHANGES);
    // Times, durations and addresses are left out: the number, the words and the name remain.
    const show = (replies: readonly string[]) =>
      labelled(
        CHANGES,
        replies.map((raw) =>
          raw.replaceAll(/:\d{10}\r\n:\d+\r\n/g, '').replaceAll(/\$\d+\r\n\S*:\d+\r\n/g, ''),
        ),
      );
    expect(show(ours)).toEqual(show(theirs));
  },
);

test('latency-monitor-threshold applies from the call that sets it', () => {
  const config = server.commands.get('config')!.subcommands!.get('set')!;
  const run = config.run;
  Object.assign(config, {
    run(...args: Parameters<typeof run>) {
      host.advance(20);
      return run(...args);
    },
  });
  try {
    a.ask('CONFIG SET hz 10');
    a.ask('CONFIG SET latency-monitor-threshold 10');
    expect(a.ask('LATENCY LATEST')).toBe('[["command" :1700000000 :20 :20]]');
    a.ask('CONFIG SET latency-monitor-threshold 0');
    expect(a.ask('LATENCY HISTORY command')).toBe('[[:1700000000 :20]]');
  } finally {
    Object.assign(config, { run });
  }
});

test('a slow command is logged without timing every command', () => {
  slowEcho(25);
  for (let i = 0; i < 5; i++) a.ask('echo x');
  expect(server.observer.mask).toBe(63);
  expect(a.ask('SLOWLOG GET').match(/:25000 \["echo" "x"\]/g)).toHaveLength(5);
  host.advance(60_000);
  a.ask('PING');
  expect(a.ask('SLOWLOG LEN')).toBe(':5');
});

test('DEBUG SLEEP counts as the time it sleeps', () => {
  a.ask('CONFIG SET latency-monitor-threshold 10');
  a.ask('DEBUG SLEEP 0.05');
  host.advance(50);
  expect(a.ask('SLOWLOG GET')).toContain(':50000 ["DEBUG" "SLEEP" "0.05"]');
  expect(a.ask('LATENCY LATEST')).toBe('[["command" :1700000000 :50 :50]]');
});

test('LATENCY records when the removal of expired or evicted keys takes long', () => {
  a.ask('CONFIG SET latency-monitor-threshold 20 maxmemory-policy allkeys-random');
  a.ask('SET k v PX 1');
  // Each reading of the clock is 15 ms later than the one before.
  let micros = 0;
  Object.assign(host.clock, { micros: () => (micros += 15_000) });
  host.advance(100);
  expect(a.ask('LATENCY LATEST')).toBe('[]');
  a.ask('CONFIG SET latency-monitor-threshold 15');
  a.ask('LATENCY RESET');
  a.ask('SET k v PX 1');
  host.advance(100);
  expect(a.ask('LATENCY HISTORY expire-cycle')).toBe('[[:1700000000 :15]]');
  a.ask('SET k v');
  a.ask('CONFIG SET maxmemory 1');
  a.ask('PING');
  expect(a.ask('LATENCY HISTORY eviction-cycle')).toBe('[[:1700000000 :15]]');
});

test('LATENCY keeps the worst sample of each second for each kind of event', () => {
  expect(a.ask('LATENCY DOCTOR')).toContain('latency-monitor-threshold');
  a.ask('CONFIG SET latency-monitor-threshold 100');
  slowEcho(150);
  a.ask('echo a');
  slowEcho(300);
  a.ask('echo a');
  host.advance(2000);
  slowEcho(50);
  a.ask('echo a');
  expect(a.ask('LATENCY HISTORY fast-command')).toBe('[[:1700000000 :300]]');
  slowEcho(200);
  a.ask('echo a');
  expect(a.ask('LATENCY HISTORY fast-command')).toBe('[[:1700000000 :300] [:1700000002 :200]]');
  expect(a.ask('LATENCY LATEST')).toBe('[["fast-command" :1700000002 :200 :300]]');
  expect(a.ask('LATENCY GRAPH fast-command')).toContain(
    'fast-command - high 300 ms, low 200 ms (all time high 300 ms)',
  );
  expect(a.ask('LATENCY DOCTOR')).toContain('fast-command: 2 latency spikes (average 250ms)');
  expect(a.ask('LATENCY GRAPH nosuch')).toBe("-ERR No samples available for event 'nosuch'");
  expect(a.ask('LATENCY HISTORY nosuch')).toBe('[]');
  expect(a.ask('LATENCY RESET nosuch')).toBe(':0');
  expect(a.ask('LATENCY RESET')).toBe(':1');
  expect(a.ask('LATENCY LATEST')).toBe('[]');
});

test('INFO shows how long commands took and which errors were answered', () => {
  a.ask('CONFIG SET latency-monitor-threshold 1000');
  slowEcho(2);
  for (let i = 0; i < 3; i++) a.ask('echo a');
  slowEcho(9);
  a.ask('echo a');
  expect(a.ask('INFO commandstats')).toContain(
    'cmdstat_echo:calls=4,usec=15000,usec_per_call=3750.00,rejected_calls=0,failed_calls=0',
  );
  expect(a.ask('INFO latencystats')).toContain(
    'latency_percentiles_usec_echo:p50=2007.039,p99=9043.967,p99.9=9043.967',
  );
  expect(a.ask('LATENCY HISTOGRAM echo nosuch')).toBe(
    '["echo" ["calls" :4 "histogram_usec" [:2113 :3 :16908 :4]]]',
  );
  a.ask('LPUSH l 1');
  a.ask('GET l');
  a.ask('nosuch');
  a.ask("EVAL \"return redis.pcall('get', 'l')\" 0");
  a.ask('EVALSHA 0000000000000000000000000000000000000000 0');
  const errors = a.ask('INFO errorstats');
  expect(errors).toContain('errorstat_ERR:count=1');
  expect(errors).toContain('errorstat_WRONGTYPE:count=2');
  expect(errors).toContain('errorstat_NOSCRIPT:count=1');
  a.ask('CONFIG RESETSTAT');
  expect(a.ask('INFO errorstats')).not.toContain('errorstat_');
  expect(a.ask('INFO commandstats')).not.toContain('cmdstat_echo');
});

test('invalidations of a RESP2 connection go to its redirection target until that disconnects', async () => {
  const listener = new Talk(server);
  const [, id = ''] = /:(\d+)/.exec(await listener.ask('CLIENT ID')) ?? [];
  await listener.ask('SUBSCRIBE __redis__:invalidate');
  const b = new Conversation(server);
  expect(b.ask(`CLIENT TRACKING ON REDIRECT ${id}`)).toBe('+OK');
  expect(b.ask('CLIENT GETREDIR')).toBe(`:${id}`);
  expect(b.ask('CLIENT INFO')).toMatch(new RegExp(` flags=t .* redir=${id} `));
  b.ask('GET k');
  a.ask('SET k 1');
  expect(await listener.hear()).toBe(
    '*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n',
  );
  b.ask('GET k');
  a.ask('FLUSHALL');
  expect(await listener.hear()).toBe('*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n$-1\r\n');
  expect(a.ask('INFO clients')).toContain('tracking_clients:1');
  b.ask('GET k');
  expect(a.ask('INFO stats')).toContain('tracking_total_keys:1');
  server.clients.get(parseInt(id, 10))!.abort();
  a.ask('SET k 2');
  expect(b.ask('CLIENT TRACKINGINFO')).toBe(
    `["flags" ["on" "broken_redirect"] "redirect" :${id} "prefixes" []]`,
  );
});

test('a redirected flush message has a null in the protocol of the tracked connection', async () => {
  const heard: Record<string, string> = {};
  for (const [tracked, hearing] of [
    [2, 3],
    [3, 2],
    [3, 3],
  ]) {
    const listener = new Talk(server);
    await listener.ask(`HELLO ${hearing}`);
    const [, id = ''] = /:(\d+)/.exec(await listener.ask('CLIENT ID')) ?? [];
    await listener.ask('SUBSCRIBE __redis__:invalidate');
    const reader = new Conversation(server);
    reader.ask(`HELLO ${tracked}`);
    reader.ask(`CLIENT TRACKING ON REDIRECT ${id}`);
    a.ask('FLUSHALL');
    heard[`${tracked} to ${hearing}`] = await listener.hear();
    reader.ask('CLIENT TRACKING OFF');
  }
  expect(heard).toEqual({
    '2 to 3': '>2\r\n$10\r\ninvalidate\r\n$-1\r\n',
    '3 to 2': '*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n_\r\n',
    '3 to 3': '>2\r\n$10\r\ninvalidate\r\n_\r\n',
  });
});

test('keys are invalidated when they are evicted, expire or no longer fit into the table', async () => {
  const reader = new Talk(server);
  await reader.ask('HELLO 3');
  await reader.ask('CLIENT TRACKING ON');
  a.ask('SET k 1 PX 100');
  await reader.ask('GET k');
  host.advance(200);
  expect(await reader.hear()).toBe('>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n');
  a.ask('SET k 1');
  await reader.ask('GET k');
  a.ask('CONFIG SET maxmemory-policy allkeys-lru maxmemory 1');
  host.advance(0);
  expect(await reader.hear()).toContain('invalidate');
  a.ask('CONFIG SET maxmemory 0 tracking-table-max-keys 1');
  await reader.ask('GET one');
  expect(await reader.ask('GET two')).toContain('$3\r\none\r\n');
});

test('NOLOOP suppresses changes by the connection itself, but not an expiry that its own request found', () => {
  a.ask('HELLO 3');
  a.ask('CLIENT TRACKING ON BCAST NOLOOP');
  expect(a.ask('SET k 1 PX 100')).toBe('+OK');
  // Time passes without a chance for active expiry.
  server.expiry.cancel();
  host.advance(200);
  expect(a.ask('GET k')).toBe('nil >["invalidate" ["k"]]');
});

test('a connection with CLIENT NO-TOUCH does not change the access times of the keys it reads', () => {
  a.ask('SET k 1');
  host.advance(10_000);
  const b = new Conversation(server);
  expect(b.ask('CLIENT NO-TOUCH ON')).toBe('+OK');
  b.ask('GET k');
  expect(b.ask('OBJECT IDLETIME k')).toBe(':10');
  b.ask('TOUCH k');
  expect(b.ask('OBJECT IDLETIME k')).toBe(':0');
  host.advance(3000);
  b.ask('EVAL "redis.call(\'GET\', KEYS[1])" 1 k');
  expect(b.ask('OBJECT IDLETIME k')).toBe(':3');
  b.ask('EVAL "redis.call(\'TOUCH\', KEYS[1])" 1 k');
  expect(b.ask('OBJECT IDLETIME k')).toBe(':0');
  host.advance(5000);
  b.ask('CLIENT NO-TOUCH OFF');
  b.ask('GET k');
  expect(b.ask('OBJECT IDLETIME k')).toBe(':0');
  b.ask('CLIENT NO-EVICT ON');
  expect(b.ask('CLIENT INFO')).toContain(' flags=e ');
  expect(b.ask('CLIENT NO-TOUCH MAYBE')).toBe('-ERR syntax error');
});

test('SLOWLOG keeps a blocked request until it is served, and hides the words of ACL SETUSER', async () => {
  const waiting = new Talk(server);
  a.ask('CONFIG SET slowlog-log-slower-than 0');
  waiting.send('BLPOP l 0');
  await until(() => server.blocking.count === 1, { what: 'the blocked client' });
  expect(a.ask('SLOWLOG GET 1')).not.toContain('BLPOP');
  a.ask('SLOWLOG RESET');
  a.ask('RPUSH l v');
  expect(await waiting.hear()).toContain('v');
  expect(a.ask('SLOWLOG GET 1')).toContain('["BLPOP" "l" "0"]');
  a.ask('ACL SETUSER "a user" +get');
  expect(a.ask('SLOWLOG GET 1')).toContain('["ACL" "SETUSER" "(redacted)" "(redacted)"]');
});

test('CLIENT LIST counts the running request in the query buffer', async () => {
  const talk = new Talk(server);
  expect(await talk.ask('CLIENT INFO')).toContain(' qbuf=26 ');
});

test('CLIENT INFO of Valkey counts no request that it read into the shared buffer (recorded)', async () => {
  const sizes = async (dialect: DialectName): Promise<string[]> => {
    const talk = new Talk(createNode(host, { dialect }));
    const qbuf = (reply: string): string => [...reply.matchAll(/ qbuf=(\d+)/g)].map(([, n]) => n).join(' ');
    const [lone, again] = [await talk.ask('CLIENT INFO'), await talk.ask('CLIENT INFO')];
    const pipelined = await talk.ask('CLIENT INFO', 'PING', 'CLIENT INFO');
    return [lone, again, pipelined, await talk.ask('CLIENT INFO')].map(qbuf);
  };
  expect(await sizes('redis-8.6')).toEqual(['26', '26', '66 66', '26']);
  expect(await sizes('valkey-8.1')).toEqual(['0', '0', '66 66', '26']);
  expect(await sizes('valkey-9')).toEqual(['0', '0', '0 0', '0']);
});
