/** Within one event, connections are written in redis-server's recorded order (test/server/clients/record-write-order.ts). */
import { readFileSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { encodeRequest } from '../../../protocol/encode.ts';
import { splitInline } from '../../../protocol/inline.ts';
import { until } from '../../support/until.ts';
import { WRITE_ORDER_CASES, type WriteOrderCase } from './write-orders.ts';

const golden = JSON.parse(readFileSync('test/golden/write-order.json', 'utf8')) as {
  'redis-7.0': Record<string, string>;
};
const recorded = golden['redis-7.0'];

/** Opens a connection; `order` grows by its name with each write to it. */
type Dial = (server: LostlockServer, name: string, order: string[]) => Promise<Duplex>;

const inMemory: Dial = async (server, name, order) => server.connect().on('data', () => order.push(name));

/** The order of the server's own calls: arrival depends on the machine. */
const overTcp: Dial = async (server, name, order) => {
  const socket = connect(server.port, server.host);
  await new Promise((resolve) => socket.once('connect', resolve));
  names.set(socket.localPort ?? 0, () => order.push(name));
  return socket;
};
const names = new Map<number, () => void>();

class Actor {
  heard = '';
  readonly #stream: Duplex;

  constructor(stream: Duplex) {
    this.#stream = stream.on('data', (chunk: Buffer) => {
      this.heard += chunk.toString('latin1');
    });
    stream.on('error', () => {});
  }

  send(...lines: string[]): void {
    this.#stream.write(lines.map((line) => encodeRequest(splitInline(line) ?? [])).join(''), 'latin1');
  }

  async ask(line: string): Promise<string> {
    this.heard = '';
    this.send(line);
    await until(() => this.heard.endsWith('\r\n'), { what: line });
    return this.heard;
  }

  hangUp(): void {
    this.#stream.destroy();
  }
}

async function play({ setup, before, act }: WriteOrderCase, dial: Dial): Promise<string[]> {
  await using server = await startServer({ settings: { 'notify-keyspace-events': 'KEA' } });
  const order: string[] = [];
  const admin = new Actor(await dial(server, 'admin', []));
  for (const line of setup) await admin.ask(line);
  const actors = new Map<string, Actor>();
  for (const name of ['caller', ...before.map(([who]) => who)]) {
    if (!actors.has(name)) actors.set(name, new Actor(await dial(server, name, order)));
  }
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) await admin.ask('PING');
  };
  for (const [who, line] of before) {
    const blocked = server.node.blocking.total;
    const actor = actors.get(who)!;
    actor.heard = '';
    actor.send(line);
    const parked = () => server.node.blocking.total > blocked;
    await until(() => actor.heard !== '' || parked(), { what: line });
    if (!line.startsWith('PSYNC')) continue;
    actor.send('REPLCONF ACK 0');
    await until(async () => (await admin.ask('INFO replication')).includes('state=online'));
  }
  await settled();
  order.length = 0;
  const calls = server.node.stats.reads;
  actors.get('caller')!.send(...act);
  await until(() => server.node.stats.reads > calls);
  await settled();
  for (const actor of [admin, ...actors.values()]) actor.hangUp();
  return [...new Set(order)];
}

test('every situation has been recorded', () => {
  expect(Object.keys(recorded)).toEqual(WRITE_ORDER_CASES.map(({ name }) => name));
});

test('in memory connections are written in the order of redis-server 7.0', async () => {
  const played: Record<string, string> = {};
  for (const each of WRITE_ORDER_CASES) played[each.name] = (await play(each, inMemory)).join(' ');
  expect(played).toEqual(recorded);
});

test('over TCP connections are written in the order of redis-server 7.0', async () => {
  const write = Socket.prototype.write;
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (
    this: Socket,
    ...args: unknown[]
  ) {
    // The clients' own sockets have other ports than the listed ones.
    names.get(this.remotePort ?? 0)?.();
    return Reflect.apply(write, this, args) as boolean;
  });
  const played: Record<string, string> = {};
  for (const each of WRITE_ORDER_CASES) played[each.name] = (await play(each, overTcp)).join(' ');
  spy.mockRestore();
  expect(played).toEqual(recorded);
});
