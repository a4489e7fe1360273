/** What Redis 8.4 and 8.6 added: the replies of redis-server 8.6, and rules that must hold whatever the server. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { PRIMARY_LINK } from '../../../server/clients/client.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, TestClient } from '../../transcripts/own.ts';
import { SESSIONS } from './redis-8.6-sessions.ts';
import { testSessions } from './sessions.ts';

testSessions('redis-8.6', SESSIONS);

describe.skipIf(oracleOf('redis-8.6') === undefined)('beside redis-server 8.6 (needs it)', () => {
  test('a payload with ids of producers is the same, and each restores the other', async () => {
    await using real = await startRedisServer({ program: oracleOf('redis-8.6') ?? '' });
    await using server = await startServer({ dialect: 'redis-8.6', strict: true });
    const clients = [
      await RawClient.connect({ path: real.path }),
      await RawClient.connect({ port: server.port }),
    ] as const;
    const long = 'x'.repeat(300);
    const payloads: string[] = [];
    for (const client of clients) {
      await client.ask('XADD', 's', '9999999999999-1', 'f', 'v');
      // The ids of IDMPAUTO: hashes of contents of every length that the algorithm distinguishes.
      for (const length of [1, 3, 4, 8, 9, 16, 17, 40, 100, 128, 129, 200, 240, 241, 300]) {
        await client.ask(
          'XADD',
          'auto',
          'IDMPAUTO',
          'p',
          '*',
          long.slice(0, length >> 1),
          long.slice(0, length),
        );
        await client.ask('XADD', 'auto', 'IDMPAUTO', 'p', '*', 'f', `${length}`, 'g', long.slice(0, length));
      }
      await client.ask('XIDMPRECORD', 's', 'p', 'a', '9999999999999-1');
      payloads.push(await dumpOf(client, 's'));
    }
    expect(payloads[1]).toBe(payloads[0]);
    const ids = await Promise.all(clients.map(async (client) => idsIn(await dumpOf(client, 'auto'))));
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[0]?.length).toBe(30);
    for (const [i, client] of clients.entries()) {
      await client.ask('RESTORE', 'r', '0', payloads[1 - i] ?? '');
      expect((await client.ask('XINFO', 'STREAM', 'r')).raw).toContain('iids-tracked\r\n:1\r\n');
      client.close();
    }
  });
});

async function dumpOf(client: RawClient, key: string): Promise<string> {
  return String((await client.ask('DUMP', key)).value[1]);
}

/** The producers' ids at the end of a payload: 16 bytes each, behind their length. */
function idsIn(payload: string): string[] {
  const start = payload.indexOf('\x01p\x1e');
  const ids: string[] = [];
  for (let at = start + 3; payload[at] === '\x10' && ids.length < 30; ) {
    ids.push(Buffer.from(payload.slice(at + 1, at + 17), 'latin1').toString('hex'));
    // Two lengths of an id: the milliseconds are in eight bytes behind a mark, the sequence is small.
    at += 17 + 9 + (payload.charCodeAt(at + 26) >= 0x40 ? 2 : 1);
  }
  return ids;
}

/** The text of a bulk string or an error; of an integer, its digits. */
function ask(client: TestClient, ...argv: string[]): string {
  client.send(argv);
  return String(client.received()[0]?.[1]);
}

test('an id whose time is over is known until the next second, as redis-server 8.6.2 sweeps once a second', () => {
  const host = new TestHost();
  const client = new TestClient(createNode(host, { dialect: 'redis-8.6' }));
  const tracked = (): string => {
    client.send(['XINFO', 'STREAM', 's']);
    return /pids-tracked\D+(\d+)/.exec(JSON.stringify(client.received()[0]))?.[1] ?? '';
  };
  ask(client, 'XADD', 's', '7-0', 'f', 'v');
  ask(client, 'XADD', 's', '8-0', 'f', 'v');
  expect(ask(client, 'XIDMPRECORD', 's', 'p', 'a', '7-0')).toBe('OK');
  expect(tracked()).toBe('1');
  expect(ask(client, 'XIDMPRECORD', 's', 'p', 'a', '8-0')).toMatch(/^ERR IID already exists/);
  expect(ask(client, 'XADD', 's', 'IDMP', 'p', 'a', '*', 'f', 'v')).toBe('7-0');
  host.advance(1000);
  expect(tracked()).toBe('0');
  expect(ask(client, 'XIDMPRECORD', 's', 'p', 'a', '8-0')).toBe('OK');
});

test('an idempotent id adds no second entry while it is remembered: after COPY, RESTORE and a failover either', () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ producer: fc.integer({ min: 1, max: 2 }), id: fc.integer({ min: 1, max: 4 }) }),
    },
    { weight: 1, arbitrary: fc.constantFrom('copy', 'restore', 'fail over', 'wait') },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const host = new TestHost();
      let server = createNode(host, { dialect: 'redis-8.6' });
      let replica = createNode(host, { dialect: 'redis-8.6' });
      let effects = recordCommands(server);
      let client = new TestClient(server);
      ask(client, 'XGROUP', 'CREATE', 's', 'g', '0', 'MKSTREAM');
      const added = new Map<string, { id: string; at: number }>();
      let length = 0;
      for (const each of steps) {
        if (each === 'wait') host.advance(30_000);
        else if (each === 'copy') {
          ask(client, 'COPY', 's', 'copy');
          ask(client, 'DEL', 's');
          ask(client, 'RENAME', 'copy', 's');
        } else if (each === 'restore') {
          const payload = ask(client, 'DUMP', 's');
          expect(ask(client, 'RESTORE', 's', '0', payload, 'REPLACE')).toBe('OK');
        } else if (each === 'fail over') {
          apply(replica, effects.splice(0));
          server = replica;
          client = new TestClient(server);
          effects = recordCommands(server);
          replica = createNode(host, { dialect: 'redis-8.6' });
          apply(replica, [['RESTORE', 's', '0', ask(client, 'DUMP', 's')]]);
        } else {
          const name = `${each.producer} ${each.id}`;
          const reply = ask(client, 'XADD', 's', 'IDMP', `p${each.producer}`, `i${each.id}`, '*', 'f', 'v');
          const before = added.get(name);
          const now = host.clock.now();
          if (before !== undefined && now - before.at < 100_000) expect(reply).toBe(before.id);
          else {
            length++;
            added.set(name, { id: reply, at: now });
          }
        }
      }
      expect(ask(client, 'XLEN', 's')).toBe(`${length}`);
    }),
    { numRuns: 100 },
  );
});

/** Records the commands that replicas receive. */
function recordCommands(server: Server): (readonly string[])[] {
  const commands: (readonly string[])[] = [];
  server.replication.observe({
    effects: (effects) => void commands.push(...effects.map(({ argv }) => argv)),
  });
  return commands;
}

/** Runs commands as if they came from the node's primary. */
function apply(replica: Server, commands: readonly (readonly string[])[]): void {
  const link = new TestClient(replica);
  link.client.mark(PRIMARY_LINK, true);
  for (const argv of commands) link.send(argv);
}

test('a replica never adds an entry that its primary refused as a duplicate, although its own clock is ahead', () => {
  const host = new TestHost();
  const replica = createNode(host, { dialect: 'redis-8.6' });
  apply(replica, [['XADD', 's', 'IDMP', 'p', 'a', '5-1', 'f', 'v']]);
  host.advance(1_000_000);
  apply(replica, [['XADD', 's', 'IDMP', 'p', 'a', '*', 'f', 'v']]);
  const client = new TestClient(replica);
  expect(ask(client, 'XLEN', 's')).toBe('1');
});

test('COMMAND DOCS describes the commands of modules from Redis 8.6 on', () => {
  const docs = (dialect: 'redis-8.2' | 'redis-8.6'): string =>
    new Conversation(createNode(new TestHost(), { dialect })).ask('COMMAND DOCS vcard');
  expect(docs('redis-8.2')).toBe('["VCARD" ["group" "module" "module" "vectorset"]]');
  // The summary is our own. The server shows the rest in this order.
  expect(docs('redis-8.6')).toMatch(
    /^\["VCARD" \["summary" "[^"]+" "since" "8\.0\.0" "group" "module" "module" "vectorset" "arguments" /,
  );
});

test('XREADGROUP with CLAIM delivers every pending entry once per idle time, to one consumer', () => {
  const action = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ read: fc.constantFrom('a', 'b', 'c'), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ wait: fc.integer({ min: 1, max: 700 }) }),
  );
  const IDLE = 1000;
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const host = new TestHost();
      const node = new Conversation(createNode(host, { dialect: 'redis-8.6' }));
      node.ask('XGROUP CREATE s g 0 MKSTREAM');
      const deliveredAt = new Map<string, number>();
      let next = 1;
      for (const each of actions) {
        if ('add' in each) for (let i = 0; i < each.add; i++) node.ask(`XADD s ${next++}-1 f v`);
        else if ('wait' in each) host.advance(each.wait);
        else {
          const reply = node.ask(
            `XREADGROUP GROUP g ${each.read} COUNT ${each.count} CLAIM ${IDLE} STREAMS s >`,
          );
          const ids = [...reply.matchAll(/"(\d+-1)"/g)].map(([, id = '']) => id);
          const now = host.clock.now();
          const due = [...deliveredAt].filter(([, at]) => now - at >= IDLE).map(([id]) => id);
          const fresh = Array.from({ length: next - 1 }, (_, i) => `${i + 1}-1`).filter(
            (id) => !deliveredAt.has(id),
          );
          expect(ids.length).toBe(Math.min(each.count, due.length + fresh.length));
          // Those that have waited come first, and all of them before anything new.
          expect([...ids.slice(0, due.length)].every((id) => due.includes(id))).toBe(true);
          expect(ids.slice(due.length)).toEqual(fresh.slice(0, Math.max(0, each.count - due.length)));
          for (const id of ids) deliveredAt.set(id, now);
        }
      }
      const pending = [...node.ask('XPENDING s g - + 1000').matchAll(/"(\d+-1)"/g)].map(([, id]) => id);
      expect(pending.sort()).toEqual([...deliveredAt.keys()].sort());
    }),
    { numRuns: 100 },
  );
});

test('a consumer that waits with CLAIM gets a pending entry a millisecond after its idle time', () => {
  const host = new TestHost();
  const server = createNode(host, { dialect: 'redis-8.6' });
  const node = new Conversation(server);
  const waiting = new TestClient(server);
  const received = (): string => JSON.stringify(waiting.received());
  node.ask('XGROUP CREATE s g 0 MKSTREAM');
  node.ask('XADD s 1-1 f v');
  node.ask('XREADGROUP GROUP g a STREAMS s >');
  host.advance(400);
  waiting.send(['XREADGROUP', 'GROUP', 'g', 'b', 'BLOCK', '0', 'CLAIM', '1000', 'STREAMS', 's', '>']);
  host.advance(600);
  expect(received()).toBe('[]');
  host.advance(1);
  expect(received()).toContain('"1-1"');
  expect(node.ask('XPENDING s g')).toBe('[:1 "1-1" "1-1" [["b" "1"]]]');
  // Nothing is pending for long enough: it is served by what another consumer is given in the meantime.
  waiting.send(['XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', '0', 'CLAIM', '1000', 'STREAMS', 's', '>']);
  host.advance(500);
  expect(received()).toBe('[]');
  node.ask('XCLAIM s g b 0 1-1 JUSTID');
  host.advance(1000);
  expect(received()).toBe('[]');
  host.advance(1);
  expect(received()).toContain('"1-1"');
  expect(server.blocking.total).toBe(0);
});
