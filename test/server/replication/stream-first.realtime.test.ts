/** A replica applies what its primary has sent before it answers clients whose requests came later, in whatever order they are read. */
import { connect, createServer, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startServer } from '../../../index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

/** A replica is sent the dataset as soon as it asks. */
const AT_ONCE = { settings: { 'repl-diskless-sync-delay': 0 } };

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a read that is sent after a piece of the stream sees it, although its socket is read first', async () => {
  await using primary = await startServer(AT_ONCE);
  await using replica = await startServer();
  /** What the primary has sent and the test has not passed on; undefined: it is passed on at once. */
  let held: Buffer[] | undefined;
  let link: Socket | undefined;
  const forwarder = createServer((front) => {
    link = front.setNoDelay(true).on('error', () => {});
    const back = connect(primary.port, '127.0.0.1').on('error', () => {});
    front.pipe(back);
    back.on('data', (chunk) => (held === undefined ? front.write(chunk) : held.push(chunk)));
    front.on('close', () => back.destroy());
  });
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void forwarder.close());
  const [writer, reader] = [await RawClient.connect(primary), await RawClient.connect(replica)];
  await reader.ask('REPLICAOF', '127.0.0.1', String((forwarder.address() as { port: number }).port));
  await until(() => replica.node.primary?.linkUp === true);
  const stale: number[] = [];
  for (let i = 0; i < 20; i++) {
    held = [];
    await writer.ask('SET', 'k', String(i));
    await until(() => held!.length > 0);
    // The reader's socket stays in the kernel's list of sockets that can be read, until the loop looks again.
    const pinged = reader.ask('PING');
    await nextTurn();
    for (const chunk of held) link!.write(chunk);
    held = undefined;
    const read = reader.ask('GET', 'k');
    await pinged;
    if ((await read).raw !== `$${String(i).length}\r\n${i}\r\n`) stale.push(i);
  }
  expect(stale).toEqual([]);
});

test('when several clients are served in one turn, the replica is sent their writes before any of them has its reply', async () => {
  await using server = await startServer(AT_ONCE);
  const names = new Map<number, string>();
  const dial = async (name: string): Promise<Socket> => {
    const socket = connect(server.port, server.host).on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.resume();
    names.set(socket.localPort!, name);
    return socket;
  };
  const sockets = await Promise.all(['replica', 'A', 'B'].map(dial));
  const [replica, a, b] = sockets as [Socket, Socket, Socket];
  replica.write('PSYNC ? -1\r\nREPLCONF ACK 0\r\n');
  await until(() => server.node.replication.online().length === 1);
  const order: string[] = [];
  const write = Socket.prototype.write;
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (
    this: Socket,
    ...args: unknown[]
  ) {
    // The clients' own sockets have other far ends.
    const name = names.get(this.remotePort ?? 0);
    if (name !== undefined) order.push(name);
    return Reflect.apply(write, this, args) as boolean;
  });
  onTestFinished(() => spy.mockRestore());
  let together = 0;
  for (let round = 0; round < 20; round++) {
    order.length = 0;
    a.write('SET k 1\r\n');
    b.write('SET k 2\r\n');
    await until(() => order.includes('A') && order.includes('B'));
    expect(order[0]).toBe('replica');
    if (order.join(' ') === 'replica B A') together++;
  }
  // The kernel may let the server read one of them a turn later.
  expect(together).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
});
