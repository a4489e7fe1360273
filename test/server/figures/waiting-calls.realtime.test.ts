/** When INFO commandstats counts the call of a client that waits, and how it counts a wait that something else ends. */
import { expect, test } from 'vitest';
import { type DialectName, startServer } from '../../../index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

/** Calls, rejected calls and failed calls, and the error that was counted; '-' for a command without any. */
type Counts = Record<string, string>;

/** What happens to a client that waits, and how the call is counted then. */
async function play(dial: () => Promise<RawClient>): Promise<Counts> {
  const other = await dial();
  const ask = async (line: string): Promise<string> => {
    const [first = '', ...words] = line.split(' ');
    return (await other.ask(first, ...words)).raw;
  };
  const counts: Counts = {};
  const note = async (what: string, command: string): Promise<void> => {
    const found = new RegExp(
      `cmdstat_${command}:calls=(\\d+).*rejected_calls=(\\d+),failed_calls=(\\d+)`,
    ).exec(await ask('INFO commandstats'));
    const error = /errorstat_(\w+):count=1\r/.exec(await ask('INFO errorstats'))?.[1] ?? '';
    counts[what] = found === null ? '-' : `${found.slice(1).join('/')} ${error}`.trimEnd();
  };
  const waiting = (count: number): Promise<unknown> =>
    until(async () => (await ask('INFO clients')).includes(`blocked_clients:${count}\r`));
  /** A client that waits, from statistics that begin anew. */
  const wait = async (request: string): Promise<{ client: RawClient; id: string }> => {
    const client = await dial();
    const id = (await client.ask('CLIENT', 'ID')).raw.slice(1, -2);
    await ask('DEL q z d');
    await ask('CONFIG RESETSTAT');
    await client.send(`${request}\r\n`);
    await waiting(1);
    return { client, id };
  };
  const cases: [what: string, request: string, then: (id: string, client: RawClient) => Promise<unknown>][] =
    [
      ['served', 'BLPOP q 0', () => ask('RPUSH q x')],
      ['served from a sorted set', 'BZPOPMIN z 0', () => ask('ZADD z 1 m')],
      ['served from a stream', 'XREAD BLOCK 0 STREAMS s $', () => ask('XADD s * f v')],
      [
        'served with an error',
        'BLMOVE q d LEFT RIGHT 0',
        async () => [await ask('SET d x'), await ask('RPUSH q x')],
      ],
      ['unblocked', 'BLPOP q 0', (id) => ask(`CLIENT UNBLOCK ${id}`)],
      ['unblocked with an error', 'BLPOP q 0', (id) => ask(`CLIENT UNBLOCK ${id} ERROR`)],
      ['unblocked in WAIT', 'WAIT 1 0', (id) => ask(`CLIENT UNBLOCK ${id}`)],
      ['past its time', 'BLPOP q 0.01', async () => {}],
      ['has left', 'BLPOP q 0', async (_, client) => client.close()],
      ['killed', 'BLPOP q 0', (id) => ask(`CLIENT KILL ID ${id}`)],
      ['signalled in vain', 'BLPOP q 0', () => ask('SET q x')],
      [
        'not allowed any more',
        'BLPOP q 0',
        async () => [await ask('ACL SETUSER default -blpop'), await ask('RPUSH q x')],
      ],
      ['no primary any more', 'BLPOP q 0', () => ask('REPLICAOF 127.0.0.1 1')],
    ];
  await ask('XGROUP CREATE s g $ MKSTREAM');
  for (const [what, request, then] of cases) {
    const command = request.split(' ')[0]?.toLowerCase() ?? '';
    const { client, id } = what === 'past its time' ? { client: await dial(), id: '' } : await wait(request);
    if (what === 'past its time') {
      await ask('CONFIG RESETSTAT');
      await client.ask('BLPOP', 'q', '0.01');
    } else if (what === 'served') await note('waits', command);
    await then(id, client);
    if (what !== 'signalled in vain') await waiting(0);
    await note(what, command);
    client.close();
    await waiting(0);
    await ask('ACL SETUSER default +blpop');
  }
  return counts;
}

const alike = {
  served: '1/0/0',
  'served from a sorted set': '1/0/0',
  'served from a stream': '1/0/0',
  'served with an error': '1/0/1 WRONGTYPE',
  unblocked: '1/0/0',
  'unblocked in WAIT': '1/0/0',
  'past its time': '1/0/0',
};

/** Counted when the call begins. */
const redis70: Counts = {
  ...alike,
  waits: '1/0/0',
  unblocked: '1/0/1',
  'unblocked in WAIT': '1/0/1',
  'unblocked with an error': '1/0/1 UNBLOCKED',
  'has left': '1/0/0',
  killed: '1/0/0',
  'signalled in vain': '1/0/0',
  'not allowed any more': '1/0/0',
  'no primary any more': '1/0/0 UNBLOCKED',
};

/** Counted when the call ends; one that never ends is not counted. */
const later: Counts = {
  ...alike,
  waits: '-',
  'unblocked with an error': '1/0/1 UNBLOCKED',
  'has left': '-',
  killed: '-',
  'signalled in vain': '-',
  'not allowed any more': '0/1/0 NOPERM',
  'no primary any more': '1/0/1 UNBLOCKED',
};
const valkey: Counts = {
  ...later,
  'unblocked with an error': '1/1/0 UNBLOCKED',
  'no primary any more': '1/1/0 UNBLOCKED',
};

const expected: Partial<Record<DialectName, Counts>> = {
  'redis-7.0': redis70,
  'redis-8.0': later,
  'redis-8.2': later,
  'redis-8.6': later,
  'redis-8.8': later,
  'valkey-8.1': valkey,
  'valkey-9': valkey,
};

for (const [dialect, counts] of Object.entries(expected)) {
  test(`${dialect}: calls that wait are counted as the server counts them`, async () => {
    await using server = await startServer({ dialect: dialect as DialectName });
    expect(await play(() => RawClient.connect(server))).toEqual(counts);
  });
}

for (const [dialect, counts] of Object.entries(expected)) {
  const program = oracleOf(dialect);
  test.skipIf(program === undefined)(
    `the real ${dialect} counts them in this way (needs ${dialect})`,
    async () => {
      await using server = await startRedisServer({ program: program as string });
      expect(await play(() => RawClient.connect(server))).toEqual(counts);
    },
  );
}
