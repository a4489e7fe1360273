/** Moves of slots as Valkey 9 makes them (CLUSTER MIGRATESLOTS): between nodes of ours, and to and from real ones. */
import { expect, test } from 'vitest';
import { startCluster } from '../../index.ts';
import { testBeside } from '../support/beside/each.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { anonymous, askNode, form, ourNode, realNode, type TestNode } from './nodes.ts';

/** The state and the message of each move that a node lists. */
async function statesOf(client: RawClient): Promise<string[]> {
  const reply = await askNode(client, 'CLUSTER', 'GETSLOTMIGRATIONS');
  return [...reply.matchAll(/"operation" "(\w+)".*?"state" "([\w-]+)" "message" "([^"]*)"/g)].map(
    ([, operation, state, message]) => `${operation} ${state} ${message}`.trim(),
  );
}

async function moved(client: RawClient, what: string): Promise<void> {
  await until(async () => (await statesOf(client))[0] === what, { what });
}

test('a counter that a client raises during moves of its slot loses nothing', async () => {
  await using cluster = await startCluster({ primaries: 2, replicas: 1, dialect: 'valkey-9' });
  const [one, two] = (await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })))) as [
    RawClient,
    RawClient,
  ];
  const ids = [await askNode(one, 'CLUSTER', 'MYID'), await askNode(two, 'CLUSTER', 'MYID')].map((id) =>
    id.slice(1, -1),
  ) as [string, string];
  const writers = await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })));
  let at = 0;
  let raised = 0;
  let stopped = false;
  const write = async (): Promise<void> => {
    while (!stopped) {
      const reply = await askNode(writers[at]!, 'INCR', '{06S}counter');
      if (reply.startsWith('-MOVED')) at = 1 - at;
      else expect(reply).toBe(`:${++raised}`);
    }
  };
  const writing = write();
  await askNode(one, 'RPUSH', '{06S}list', 'a', 'b');
  await askNode(one, 'SET', '{06S}timed', 'v', 'EX', '1000');
  for (const [from, to] of [
    [0, 1],
    [1, 0],
    [0, 1],
  ] as const) {
    const [source, target] = [[one, two][from]!, [one, two][to]!];
    expect(await askNode(source, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '0', '3', 'NODE', ids[to])).toBe(
      '+OK',
    );
    await moved(source, 'EXPORT success');
    await moved(target, 'IMPORT success');
    expect(await askNode(source, 'DBSIZE')).toBe(':0');
  }
  stopped = true;
  await writing;
  expect(raised).toBeGreaterThan(0);
  expect(await askNode(two, 'GET', '{06S}counter')).toBe(`"${raised}"`);
  expect(await askNode(two, 'LRANGE', '{06S}list', '0', '-1')).toBe('["a" "b"]');
  expect(await askNode(two, 'TTL', '{06S}timed')).toMatch(/^:(1000|9\d\d)$/);
  // The replica has the data, and has heard of the moves of its primary.
  const replica = await RawClient.connect({ port: cluster.nodes[3]!.port });
  await until(
    async () => (await statesOf(replica)).filter((state) => state === 'IMPORT success').length === 2,
  );
  expect(await askNode(replica, 'DBSIZE')).toBe(':3');
  for (const client of [one, two, replica, ...writers]) client.close();
});

test('a move to a node that cannot be reached fails, and the slots stay', async () => {
  await using cluster = await startCluster({ primaries: 2, dialect: 'valkey-9' });
  const [source, target] = cluster.nodes;
  const client = await RawClient.connect({ port: source!.port });
  const other = await RawClient.connect({ port: target!.port });
  const id = (await askNode(other, 'CLUSTER', 'MYID')).slice(1, -1);
  other.close();
  await askNode(client, 'SET', '{06S}a', 'v');
  await target!.stop();
  expect(await askNode(client, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '0', '0', 'NODE', id)).toBe('+OK');
  await moved(client, 'EXPORT failed Unable to connect to target node: Connection refused');
  expect(await askNode(client, 'CLUSTER', 'CANCELSLOTMIGRATIONS')).toBe('-ERR No migrations ongoing');
  expect(await askNode(client, 'CLUSTER', 'COUNTKEYSINSLOT', '0')).toBe(':1');
  client.close();
});

/** Requests that begin no move, for the first of three primaries. ID1 is the second one. */
const REFUSED = `
MIGRATESLOTS foo
MIGRATESLOTS SLOTSRANGE 1
MIGRATESLOTS SLOTSRANGE 1 2
MIGRATESLOTS SLOTSRANGE 1 2 NODE
MIGRATESLOTS SLOTSRANGE 1 2 NODE x
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID0
MIGRATESLOTS SLOTSRANGE 1 2 NODE 0000000000000000000000000000000000000000
MIGRATESLOTS SLOTSRANGE 2 1 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 20000 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 5461 NODE ID1
MIGRATESLOTS SLOTSRANGE 5461 5462 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 2 2 3 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 2 foo ID1
MIGRATESLOTS SLOTSRANGE NODE ID1
MIGRATESLOTS SLOTSRANGE x 2 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 x NODE ID1
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID1 SLOTSRANGE 2 3 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID1 SLOTSRANGE 3
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID1 foo
MIGRATESLOTS SLOTSRANGE -1 2 NODE ID1
MIGRATESLOTS SLOTSRANGE 1 2 3 NODE ID1
MIGRATESLOTS NODE ID1 SLOTSRANGE 1 2
MIGRATESLOTS SLOTSRANGE 01 2 NODE ID1
GETSLOTMIGRATIONS
GETSLOTMIGRATIONS x
CANCELSLOTMIGRATIONS
CANCELSLOTMIGRATIONS x
SYNCSLOTS
SYNCSLOTS x
SYNCSLOTS ACK
SYNCSLOTS SNAPSHOT-EOF
SYNCSLOTS REQUEST-PAUSE
SYNCSLOTS PAUSED
SYNCSLOTS REQUEST-FAILOVER
SYNCSLOTS FAILOVER-GRANTED
SYNCSLOTS ESTABLISH
SYNCSLOTS ESTABLISH NAME x
SYNCSLOTS ESTABLISH SOURCE ID1 NAME ID1
SYNCSLOTS ESTABLISH SOURCE ID0 NAME ID1 SLOTSRANGE 1 2
SYNCSLOTS ESTABLISH SOURCE 0000000000000000000000000000000000000000 NAME ID1 SLOTSRANGE 1 2
SYNCSLOTS ESTABLISH SOURCE ID1 NAME ID1 SLOTSRANGE 1 2
SYNCSLOTS ESTABLISH SOURCE ID1 SOURCE ID1
SYNCSLOTS ESTABLISH NAME ID1 SLOTSRANGE 6000 6001
SYNCSLOTS FINISH
SYNCSLOTS FINISH STATE x NAME y
SYNCSLOTS FINISH STATE x NAME ID1
SYNCSLOTS FINISH STATE success NAME ID1 MESSAGE
SYNCSLOTS FINISH STATE success NAME ID1 MESSAGE m
SETSLOT 100 MIGRATING ID1
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID1
SETSLOT 100 STABLE
SETSLOT 6000 IMPORTING ID1
MIGRATESLOTS SLOTSRANGE 1 2 NODE ID1
SETSLOT 6000 STABLE`;

testBeside(
  ['valkey-9'],
  '%s refuses moves as its server, and moves slots to and from it',
  async (dialect, program) => {
    const kinds = [
      () => ourNode(dialect, { 'cluster-databases': 4 }),
      () => realNode(program, '--cluster-databases', '4'),
    ] as const;
    const make = (kind: number): Promise<TestNode> => kinds[kind]!();
    const [ours, real] = [
      await Promise.all([0, 1, 0].map(make)),
      await Promise.all([1, 1, 1].map(make)),
    ] as const;
    for (const nodes of [ours, real]) await form(nodes);
    for (const line of REFUSED.trim().split('\n')) {
      const [mine, theirs] = await Promise.all(
        [ours, real].map(async (nodes) => {
          const words = line.split(' ').map((word) => nodes[Number(/^ID(\d)$/.exec(word)?.[1])]?.id ?? word);
          return anonymous(nodes, await askNode(nodes[0]!.admin, 'CLUSTER', ...words));
        }),
      );
      expect([line, mine]).toEqual([line, theirs]);
    }

    // From ours to the real one, and back to another of ours. Databases come along.
    const [first, second, third] = ours as [TestNode, TestNode, TestNode];
    await askNode(first.admin, 'SET', '{06S}a', 'v', 'EX', '1000');
    await askNode(first.admin, 'HSET', '{06S}h', 'f', 'v');
    await askNode(first.admin, 'SELECT', '3');
    await askNode(first.admin, 'XADD', '{06S}x', '1-1', 'f', 'v');
    await askNode(first.admin, 'SELECT', '0');
    const move = async (from: TestNode, to: TestNode): Promise<void> => {
      const reply = await askNode(
        from.admin,
        'CLUSTER',
        'MIGRATESLOTS',
        'SLOTSRANGE',
        '0',
        '1',
        'NODE',
        to.id,
      );
      expect(reply).toBe('+OK');
      await moved(from.admin, 'EXPORT success');
      await moved(to.admin, 'IMPORT success');
      expect(await askNode(to.admin, 'HGET', '{06S}h', 'f')).toBe('"v"');
      expect(await askNode(to.admin, 'TTL', '{06S}a')).toMatch(/^:(1000|9\d\d)$/);
      await askNode(to.admin, 'SELECT', '3');
      expect(await askNode(to.admin, 'XLEN', '{06S}x')).toBe(':1');
      await askNode(to.admin, 'SELECT', '0');
      expect(await askNode(from.admin, 'CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', '0', '1')).toBe('[]');
    };
    await move(first, second);
    await move(second, third);
    await Promise.all([...ours, ...real].map((node) => node.stop()));
  },
);

/** Requests to the first of three primaries that begin no move, and how Redis answers. */
const REFUSED_BY_REDIS = `
MIGRATION STATUS
MIGRATION STATUS ALL
MIGRATION STATUS ID x
MIGRATION STATUS ALL x
MIGRATION STATUS ID
MIGRATION STATUS foo
MIGRATION STATUS foo bar
MIGRATION STATUS foo bar x
MIGRATION foo ALL x y
MIGRATION CANCEL ALL
MIGRATION CANCEL ID x
MIGRATION CANCEL
MIGRATION CANCEL foo
MIGRATION CANCEL ID
MIGRATION foo bar
MIGRATION IMPORT 0
MIGRATION IMPORT 0 1
MIGRATION IMPORT 1 0
MIGRATION IMPORT 0 16384
MIGRATION IMPORT x 1
MIGRATION IMPORT 0 5 3 8
MIGRATION IMPORT 0 5 6
MIGRATION IMPORT 5460 5462
MIGRATION IMPORT 6000 6001 16000 16001
SETSLOT 6000 IMPORTING ID1
MIGRATION IMPORT 6001 6001
SETSLOT 6000 STABLE`;

/** The same for TRIMSLOTS. */
const TRIMS = `
TRIMSLOTS foo 1 0 1
TRIMSLOTS RANGES x 0 1
TRIMSLOTS RANGES 0 0 1
TRIMSLOTS RANGES 2 0 1
TRIMSLOTS RANGES 1 3 1
TRIMSLOTS RANGES 1 x 1
TRIMSLOTS RANGES 2 0 0 9000 9000
TRIMSLOTS RANGES 1 9000 9001
TRIMSLOTS RANGES 2 9000 9009 9007 9012
TRIMSLOTS RANGES 2 9000 9009 9007 5
TRIMSLOTS RANGES 2 9000 16000 5 5
MGET {c} {b}
RENAME {b} {c}
CLUSTER SETSLOT 9003 IMPORTING ID1
TRIMSLOTS RANGES 1 9000 9009
CLUSTER SETSLOT 9003 STABLE
CLUSTER DELSLOTS 3300
MGET {c} {b}
RENAME {b} {c}
CLUSTER ADDSLOTS 3300`;

testBeside(['redis-8.6'], '%s moves slots with CLUSTER MIGRATION as its server', async (dialect, program) => {
  const [ours, real] = await Promise.all([
    Promise.all(Array.from({ length: 3 }, () => ourNode(dialect))),
    Promise.all(Array.from({ length: 3 }, () => realNode(program))),
  ]);
  for (const nodes of [ours, real]) await form(nodes);
  const both = (...words: string[]): Promise<string[]> =>
    Promise.all(
      [ours, real].map(async (nodes) => {
        const sent = words.map((word) => nodes[Number(/^ID(\d)$/.exec(word)?.[1])]?.id ?? word);
        return anonymous(nodes, await askNode(nodes[0]!.admin, ...sent));
      }),
    );
  const lines = [
    ...REFUSED_BY_REDIS.trim()
      .split('\n')
      .map((line) => `CLUSTER ${line}`),
    ...TRIMS.trim().split('\n'),
  ];
  for (const line of lines) {
    const [mine, theirs] = await both(...line.split(' '));
    expect([line, mine]).toEqual([line, theirs]);
  }
  // A client that is no node is refused, and its connection closed.
  for (const words of [['x'], ['ACK'], ['SYNC', 'a', '0', '1']]) {
    const ends = await Promise.all(
      [ours, real].map(async (nodes) => {
        const client = await RawClient.connect({ port: nodes[0]!.port });
        const reply = await askNode(client, 'CLUSTER', 'SYNCSLOTS', ...words);
        await until(() => client.ending !== undefined, { what: 'a connection that is closed' });
        return reply;
      }),
    );
    expect(ends[0]).toBe(ends[1]);
  }
  // A move, as both ends describe it when it has ended. A source that is not ready is asked again, at any server.
  const described = await Promise.all(
    [ours, real].map(async (nodes) => {
      const [target, source] = nodes as [TestNode, TestNode];
      for (const key of ['{a5}1', '{a5}2']) await askNode(source.admin, 'SET', key, 'v', 'EX', '1000');
      const slot = Number((await askNode(source.admin, 'CLUSTER', 'KEYSLOT', '{a5}1')).slice(1));
      const slots = [slot + 1, slot + 2, slot, slot].map(String);
      expect(await askNode(target.admin, 'CLUSTER', 'MIGRATION', 'IMPORT', ...slots)).toMatch(
        /^"[0-9a-f]{40}"$/,
      );
      const ended = async ({ admin }: TestNode): Promise<string> =>
        until(
          async () => {
            const text = await askNode(admin, 'CLUSTER', 'MIGRATION', 'STATUS', 'ALL');
            return text.includes('"completed"') ? text : undefined;
          },
          { what: 'a move that has ended' },
        );
      const texts = [await ended(target), await ended(source)];
      expect(await askNode(target.admin, 'DBSIZE')).toMatch(/^:[23]$/);
      expect(await askNode(target.admin, 'TTL', '{a5}2')).toMatch(/^:(1000|9\d\d)$/);
      expect(await askNode(source.admin, 'GET', '{a5}1')).toContain('MOVED');
      return texts.map((text) =>
        anonymous(nodes, text)
          .replace(/"id" "\w+"/, '"id" NAME')
          .replaceAll(/:\d{13}/g, ':TIME')
          .replace(/"retries" :\d+/, '"retries" :N')
          .replace(/"write_pause_ms" :\d+/, '"write_pause_ms" :N'),
      );
    }),
  );
  expect(described[0]).toEqual(described[1]);
  await Promise.all([...ours, ...real].map((node) => node.stop()));
});

testBeside(
  ['redis-8.6'],
  '%s asks again for slots that it does not get, and may be told to ask for others',
  async (dialect, program) => {
    const kinds = [() => ourNode(dialect), () => realNode(program)];
    const seen = await Promise.all(
      kinds.map(async (make) => {
        const nodes = await Promise.all([make(), make(), make()]);
        const [first, second, third] = nodes as [TestNode, TestNode, TestNode];
        await form(nodes);
        const ask = (...words: string[]): Promise<string> => askNode(second.admin, 'CLUSTER', ...words);
        const described = async (): Promise<string> =>
          (await ask('MIGRATION', 'STATUS', 'ALL'))
            .replaceAll(/"id" "\w+"/g, '"id" NAME')
            .replaceAll(/:\d{13}/g, ':TIME')
            .replaceAll(/"retries" :[1-9]\d*/g, '"retries" :N');
        const failed = (): Promise<string> =>
          until(async () => {
            const text = await described();
            return /^\[\["id" NAME[^\]]*"failed"[^\]]*:N/.test(text) ? text : undefined;
          });
        await first.stop();
        const replies = [(await ask('MIGRATION', 'IMPORT', '0', '1')).length.toString(), await failed()];
        for (const action of ['STABLE', 'MIGRATING ID2', 'IMPORTING ID2', 'NODE ID2', 'x']) {
          replies.push(await ask('SETSLOT', '1', ...action.replace('ID2', third.id).split(' ')));
        }
        replies.push(await ask('SETSLOT', '2', 'STABLE'));
        replies.push((await ask('MIGRATION', 'IMPORT', '2', '2')).length.toString(), await failed());
        replies.push(await ask('MIGRATION', 'CANCEL', 'ALL'), await described());
        const shown = replies.map((text) => anonymous(nodes, text));
        await Promise.all([second, third].map((node) => node.stop()));
        return shown;
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
  },
);

test('of two nodes that ask for the same slots at once, the second one waits, and asks the new owner', async () => {
  await using cluster = await startCluster({ primaries: 3, dialect: 'redis-8.6' });
  const clients = await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })));
  const [source, ...targets] = clients as [RawClient, RawClient, RawClient];
  for (let i = 0; i < 20; i++) await askNode(source, 'SET', `{06S}${i}`, 'v');
  await Promise.all(targets.map((target) => askNode(target, 'CLUSTER', 'MIGRATION', 'IMPORT', '0', '3')));
  const ended = async (client: RawClient): Promise<boolean> =>
    /"import" "state" "completed"/.test(await askNode(client, 'CLUSTER', 'MIGRATION', 'STATUS', 'ALL'));
  for (const target of targets) await until(() => ended(target), { what: 'both imports to end' });
  // No move was cut off at the end: one of them began after the other.
  for (const client of clients) {
    expect(await askNode(client, 'CLUSTER', 'MIGRATION', 'STATUS', 'ALL')).not.toContain('no longer owned');
  }
  const sizes = await Promise.all(clients.map((client) => askNode(client, 'DBSIZE')));
  expect(sizes.sort()).toEqual([':0', ':0', ':20']);
  for (const client of clients) client.close();
});

testBeside(
  ['valkey-9'],
  '%s ends a move to its primary when it is promoted, and takes part in others then',
  async (dialect, program) => {
    const kinds = [() => ourNode(dialect), () => realNode(program)];
    const seen = await Promise.all(
      kinds.map(async (make) => {
        const nodes = await Promise.all([make(), make(), make(), make()]);
        const [target, source, , replica] = nodes as [TestNode, TestNode, TestNode, TestNode];
        await form(nodes);
        const client = await RawClient.connect({ port: target.port });
        const establish = (by: RawClient, name: string): Promise<string> => {
          const words = ['SOURCE', source.id, 'NAME', name.repeat(40), 'SLOTSRANGE', '6000', '6001'];
          return askNode(by, 'CLUSTER', 'SYNCSLOTS', 'ESTABLISH', ...words);
        };
        const replies = [await establish(client, '0')];
        await moved(replica.admin, 'IMPORT occurring-on-primary');
        replies.push(await askNode(replica.admin, 'CLUSTER', 'FAILOVER'));
        for (const { admin } of [target, replica]) {
          await moved(admin, 'IMPORT failed A failover occurred during slot import');
        }
        const other = await RawClient.connect({ port: replica.port });
        replies.push(await establish(other, '1'));
        for (const each of [client, other]) each.close();
        await Promise.all(nodes.map((node) => node.stop()));
        return replies;
      }),
    );
    expect(seen).toEqual(Array(2).fill(['+OK', '+OK', '+OK']));
  },
);
