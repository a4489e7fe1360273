/** A replica applies what its primary has sent before it answers clients whose requests came later, in whatever order they are read. */
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a read that is sent after a piece of the stream sees it, although its socket is read first', async () => {
  await using primary = await startServer();
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
