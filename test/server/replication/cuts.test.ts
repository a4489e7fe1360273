/** A replica whose link is cut at any byte of the conversation, in either direction, reconnects without waiting for a time-out. */
import { expect, test } from 'vitest';
import type { Bytes, Millis } from '../../../protocol/bytes.ts';
import type { Client } from '../../../server/clients/client.ts';
import { typeOfClient } from '../../../server/clients/filters.ts';
import { describeClient, everyClient } from '../../../server/clients/info.ts';
import { info } from '../../../server/commands/node/info.ts';
import type { Connection, Host, Receiver, Timer } from '../../../server/host/host.ts';
import { createNode } from '../../../server/index.ts';
import { promote, replicateFrom } from '../../../server/replication/role.ts';
import type { Server } from '../../../server/server.ts';
import { sampleOf } from '../../support/long.ts';

/** Time that moves by hand, and links that break after so many bytes. */
class Bench {
  now: Millis = 1_700_000_000_000;
  /** How many more bytes pass in each direction; then the connection is reset. */
  readonly passes = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  /** How many bytes have passed. */
  readonly passed = { up: 0, down: 0 };
  dials = 0;
  /** How long a dial takes, and how late a reset arrives. */
  dialDelay = 0;
  resetDelay = 1;
  /** Nothing arrives any more, and neither end gets a reset. */
  deaf = false;
  readonly #nodes = new Map<number, Server>();
  #tasks: { due: Millis; serial: number; task: () => void }[] = [];
  #serial = 0;
  #seed = 1;

  node(port: number): Server {
    const server = createNode(this.#host(), { settings: { port } });
    this.#nodes.set(port, server);
    return server;
  }

  #schedule(due: Millis, task: () => void): Timer {
    const entry = { due, serial: this.#serial++, task };
    this.#tasks.push(entry);
    return { cancel: () => void (this.#tasks = this.#tasks.filter((each) => each !== entry)) };
  }

  /** Runs what is due within so many milliseconds. */
  advance(ms: Millis): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = this.#tasks.sort((a, b) => a.due - b.due || a.serial - b.serial);
      if (next === undefined || next.due > end) break;
      this.#tasks.shift();
      this.now = Math.max(this.now, next.due);
      next.task();
    }
    this.now = end;
  }

  #host(): Host {
    return {
      clock: {
        now: () => this.now,
        micros: () => this.now * 1000,
        at: (deadline, task) => this.#schedule(deadline, task),
        after: (delay, task) => this.#schedule(this.now + delay, task),
        soon: (task) => this.#schedule(this.now, task),
      },
      disk: {} as Host['disk'],
      random: () => {
        this.#seed = (this.#seed * 48271) % 2147483647;
        return this.#seed / 2147483647;
      },
      connect: (_host, port, receiver, opened) => this.#connect(port, receiver, opened),
    };
  }

  #connect(port: number, replica: Receiver, opened: (connection: Connection) => void): undefined {
    this.dials++;
    const primary = this.#nodes.get(port);
    if (primary === undefined) return void this.#schedule(this.now, () => replica.closed());
    let open = true;
    // The reset reaches both ends later, after whatever they do in between.
    const cut = (): void => {
      if (!open) return;
      open = false;
      this.#schedule(this.now + this.resetDelay, () => client?.closed());
      this.#schedule(this.now + this.resetDelay, () => replica.closed());
    };
    const end = (way: 'up' | 'down', far: () => Receiver | undefined): Connection => ({
      remote: '127.0.0.1:1',
      local: '127.0.0.1:2',
      pending: 0,
      send: (bytes) => {
        if (!open) return;
        const part = bytes.slice(0, this.passes[way]);
        this.passes[way] -= part.length;
        this.passed[way] += part.length;
        if (this.deaf) return;
        this.#schedule(this.now, () => far()?.receive(Buffer.from(part, 'latin1')));
        if (part.length < bytes.length) cut();
      },
      close: cut,
      abort: cut,
      pause() {},
      resume() {},
    });
    const client = primary.connections.accept(end('down', () => replica));
    this.#schedule(this.now + this.dialDelay, () => opened(end('up', () => client)));
  }
}

function write(server: Server, ...argv: Bytes[]): void {
  const client = server.connections.pseudoClient();
  client.state = 0;
  client.db = server.db(3);
  server.execute(client, argv);
  server.settle();
}

/** The bytes of an undisturbed conversation: full resync, a write, an acknowledgement. */
function story(cutAt: { up?: number; down?: number }) {
  const bench = new Bench();
  const [primary, replica] = [bench.node(1), bench.node(2)];
  write(primary, 'SET', 'before', '1');
  Object.assign(bench.passes, cutAt);
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(10);
  write(primary, 'SET', 'while', '2');
  bench.advance(1);
  // Only one cut, wherever it is.
  bench.advance(500);
  Object.assign(bench.passes, { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY });
  write(primary, 'SET', 'after', '3');
  bench.advance(2500);
  return { bench, primary, replica };
}

const whole = story({}).bench.passed;

test.each(['up', 'down'] as const)(
  'a link that is cut at any byte on the way %s is back within two heartbeats',
  (way) => {
    expect(whole[way]).toBeGreaterThan(150);
    for (let at = 0; at < whole[way]; at += sampleOf(1, 3)) {
      const { bench, primary, replica } = story({ [way]: at });
      expect({ at, up: replica.primary?.linkUp, dials: bench.dials <= 4 }).toEqual({
        at,
        up: true,
        dials: true,
      });
      expect(replica.replication).toMatchObject({
        id: primary.replication.id,
        offset: primary.replication.offset,
      });
      expect(primary.replication.online().map(({ acknowledged }) => acknowledged)).toEqual([
        primary.replication.offset,
      ]);
      const keys = [...replica.db(3).entries.keys()].sort();
      expect(keys).toEqual(['after', 'before', 'while']);
      expect(replica.db(0).size).toBe(0);
      for (const server of [primary, replica]) server.stop();
    }
  },
);

test('a stream that continues from a sibling keeps its selected database', () => {
  const bench = new Bench();
  const [first, second, third] = [bench.node(1), bench.node(2), bench.node(3)];
  replicateFrom(second, '127.0.0.1', 1);
  replicateFrom(third, '127.0.0.1', 1);
  bench.advance(10);
  write(first, 'SET', 'a', '1');
  bench.advance(10);
  replicateFrom(third, '127.0.0.1', 2);
  bench.advance(10);
  expect(second.replication.counters).toMatchObject({ partial: 1, full: 0 });
  write(first, 'SET', 'b', '2');
  bench.advance(10);
  expect([...third.db(3).entries.keys()]).toEqual(['a', 'b']);
});

test('a sub-replica that joins late applies the stream to the selected database', () => {
  const bench = new Bench();
  const [first, second, third] = [bench.node(1), bench.node(2), bench.node(3)];
  replicateFrom(second, '127.0.0.1', 1);
  bench.advance(10);
  write(first, 'SET', 'a', '1');
  bench.advance(10);
  replicateFrom(third, '127.0.0.1', 2);
  bench.advance(10);
  expect(second.replication.counters).toMatchObject({ full: 1 });
  write(first, 'SET', 'b', '2');
  bench.advance(10);
  expect([...third.db(3).entries.keys()]).toEqual(['a', 'b']);
  expect(third.db(0).size).toBe(0);
  expect(third.replication.offset).toBe(first.replication.offset);
});

test('the second replication id is valid up to the byte of the promotion and no further', () => {
  for (const [from, resumed] of [
    [-1, true],
    [0, true],
    [1, false],
  ] as const) {
    const bench = new Bench();
    const [first, second] = [bench.node(1), bench.node(2)];
    replicateFrom(second, '127.0.0.1', 1);
    bench.advance(10);
    write(first, 'SET', 'a', '1');
    bench.advance(10);
    promote(second);
    write(second, 'SET', 'b', '2');
    const { replication } = second;
    const client = second.connections.accept({
      remote: '127.0.0.1:9',
      local: '',
      pending: 0,
      send() {},
      close() {},
      abort() {},
      pause() {},
      resume() {},
    });
    if (client === undefined) throw new Error('refused');
    second.execute(client, ['PSYNC', replication.secondId, String(replication.secondOffset + from)]);
    expect(replication.counters.partial, `offset ${from}`).toBe(resumed ? 1 : 0);
  }
});

test('a dataset that cannot be read leaves the data and the offset unchanged', () => {
  const bench = new Bench();
  const replica = bench.node(2);
  write(replica, 'SET', 'mine', '1');
  // tidy patches: no primary sends such a dataset
  bench.node(1).replication.sendDataset = (client) => {
    client.output.write('$9\r\nnonsense!');
  };
  const { id } = replica.replication;
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(100);
  expect(replica.replication.id).toBe(id);
  expect(replica.db(3).size).toBe(1);
  expect(replica.primary?.linkUp).toBe(false);
});

test('the late close of an abandoned connection does not break the dial that follows it', () => {
  const bench = new Bench();
  Object.assign(bench, { dialDelay: 1500, resetDelay: 1100 });
  const [primary, replica] = [bench.node(1), bench.node(2)];
  const refusing = primary.interceptor;
  primary.interceptor = (client) => {
    client.output.write('-LOADING soon\r\n');
    primary.interceptor = refusing;
    return true;
  };
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(8000);
  expect(replica.primary?.linkUp).toBe(true);
  expect([bench.dials, primary.replication.counters.full]).toEqual([2, 1]);
});

test('PING keeps the stream alive, and both ends close a silent link after repl-timeout', () => {
  const bench = new Bench();
  const [primary, replica] = [bench.node(1), bench.node(2)];
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(500);
  const { offset } = primary.replication;
  bench.advance(30_000);
  // Every ten seconds the fourteen bytes of one PING.
  expect(primary.replication.offset).toBe(offset + 3 * 14);
  expect([replica.replication.offset, bench.dials]).toEqual([primary.replication.offset, 1]);
  bench.deaf = true;
  bench.advance(59_000);
  expect([primary.replication.online().length, replica.primary?.linkUp]).toEqual([1, true]);
  bench.advance(4000);
  expect([primary.replication.online().length, replica.primary?.linkUp]).toEqual([0, false]);
  bench.deaf = false;
  bench.advance(62_000);
  expect(replica.primary?.linkUp).toBe(true);
});

test('a primary without replicas for repl-backlog-ttl drops its backlog and its history', () => {
  const bench = new Bench();
  const [primary, replica] = [bench.node(1), bench.node(2)];
  primary.settings['repl-backlog-ttl'] = 30;
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(10);
  const { id } = primary.replication;
  promote(replica);
  bench.advance(30_000);
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(40_000);
  expect([primary.replication.id, primary.replication.backlog === undefined]).toEqual([id, false]);
  promote(replica);
  bench.advance(31_500);
  expect([primary.replication.id === id, primary.replication.backlog]).toEqual([false, undefined]);
  write(primary, 'SET', 'unread', '1');
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(10);
  expect(primary.replication.counters).toMatchObject({ full: 3, partial: 0 });
  expect(replica.db(3).size).toBe(1);
});

test('full resyncs wait for repl-diskless-sync-delay, or until enough replicas have come', () => {
  const bench = new Bench();
  const [primary, one, two] = [bench.node(1), bench.node(2), bench.node(3)];
  primary.settings['repl-diskless-sync-delay'] = 5;
  replicateFrom(one, '127.0.0.1', 1);
  bench.advance(3000);
  replicateFrom(two, '127.0.0.1', 1);
  const states = () => [one, two].map((node) => node.primary?.linkUp);
  bench.advance(1900);
  expect(states()).toEqual([false, false]);
  bench.advance(200);
  expect(states()).toEqual([true, true]);
  for (const node of [one, two]) {
    promote(node);
    node.replication.id = 'x';
  }
  primary.settings['repl-diskless-sync-max-replicas'] = 2;
  for (const node of [one, two]) replicateFrom(node, '127.0.0.1', 1);
  bench.advance(10);
  expect(states()).toEqual([true, true]);
});

test('the link to the primary is a client like others: listed, counted, and reconnected when killed', () => {
  const bench = new Bench();
  const [primary, replica] = [bench.node(1), bench.node(2)];
  replicateFrom(replica, '127.0.0.1', 1);
  bench.advance(10);
  write(primary, 'SET', 'k', '1');
  bench.advance(10);
  expect(everyClient(replica).map((each) => describeClient(replica, each))).toEqual([
    expect.stringMatching(/^id=\d+ addr=127\.0\.0\.1:1 .* flags=M db=3 .* cmd=set user=\(superuser\) /),
  ]);
  expect(typeOfClient(everyClient(replica)[0] as Client)).toBe('master');
  expect(info(replica, ['clients'])).toContain('connected_clients:1\r\n');
  expect(info(primary, ['clients'])).toContain('connected_clients:0\r\n');
  write(replica, 'CLIENT', 'KILL', 'TYPE', 'master');
  expect([replica.primary?.linkUp, everyClient(replica)]).toEqual([false, []]);
  bench.advance(10);
  expect([replica.primary?.linkUp, primary.replication.counters.partial]).toEqual([true, 1]);
});
