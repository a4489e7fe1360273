/** A node and a client in a world that record what they receive, and when. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { VirtualConnection } from '../../lab/virtual/connection.ts';
import { VirtualHost } from '../../lab/virtual/host.ts';
import { World } from '../../lab/virtual/world.ts';
import type { Bytes } from '../../protocol/bytes.ts';

/** A node and a client that record what they receive, with the virtual milliseconds of its arrival. */
export async function exchange(latency = 1, jitter = 0) {
  const world = new World({ network: { latency, jitter } });
  const host = new VirtualHost(world, 'node');
  const began = world.now;
  const atNode: [number, string][] = [];
  const atClient: [number, string][] = [];
  const connections: VirtualConnection[] = [];
  const note = (list: [number, string][], what: string): void => void list.push([world.now - began, what]);
  host.listen(7000, (connection) => {
    connections.push(connection);
    return {
      receive: (chunk) => note(atNode, Buffer.from(chunk).toString('latin1')),
      closed: () => note(atNode, 'closed'),
    };
  });
  const dial = async (): Promise<Duplex> => {
    const { socket } = await world.actor('A').run(() => {
      const socket = connect({ host: 'node', port: 7000 });
      socket.on('connect', () => note(atClient, 'connect'));
      socket.on('data', (chunk: Buffer) => note(atClient, chunk.toString('latin1')));
      socket.on('error', (error: NodeJS.ErrnoException) => note(atClient, `error ${error.message}`));
      socket.on('timeout', () => note(atClient, 'timeout'));
      socket.on('close', (failed) => note(atClient, `close ${failed}`));
      return { socket };
    });
    return socket;
  };
  const write = (socket: Duplex, ...chunks: string[]) =>
    world.actor('A').run(() => {
      for (const chunk of chunks) socket.write(chunk);
    });
  const send = (bytes: Bytes): void => connections.at(-1)?.send(bytes);
  const link = world.network.link('A', 'node');
  return { world, host, atNode, atClient, connections, dial, write, send, link };
}
