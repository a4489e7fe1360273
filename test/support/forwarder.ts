/** A TCP port that forwards to another one, which can be changed, and that can stop forwarding what the server sends. */
import { connect, createServer, type Socket } from 'node:net';

export interface Forwarder {
  readonly port: number;
  /** From now on nothing that the server sends is forwarded; connections stay open. */
  hold(): void;
  /** New connections go to another port; existing ones stay. */
  to(port: number): void;
  stop(): Promise<void>;
}

/** @param target the port of 127.0.0.1 that connections are forwarded to */
export async function startForwarder(target: number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let port = target;
  let held = false;
  const server = createServer((front) => {
    const back = connect(port, '127.0.0.1');
    for (const socket of [front, back]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.setNoDelay(true);
    }
    front.pipe(back);
    back.on('data', (chunk) => {
      if (!held) front.write(chunk);
    });
    front.on('close', () => back.destroy());
    back.on('close', () => front.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    hold: () => {
      held = true;
    },
    to: (next) => {
      port = next;
      held = false;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
