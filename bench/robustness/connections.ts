/** Many connections: idle ones, ones that do not read their replies, and ones that do not finish their requests. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { attack, count, type Finding } from './attack.ts';
import type { Target } from './target.ts';

/** Opens this many connections, a few at a time. */
async function crowd(target: Target, size: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < size) {
    const some = Array.from({ length: Math.min(250, size - sockets.length) }, () => target.dial());
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

function disperse(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

async function field(target: Target, section: string, name: string): Promise<string> {
  const text = await target.ask(`INFO ${section}`);
  return new RegExp(`^${name}:(.*)\r$`, 'm').exec(text)?.[1] ?? '?';
}

/** Connections that send PING once and are idle afterwards. */
export function idle(size: number): Promise<Finding[]> {
  return attack(`${count(size)} idle connections`, ['--maxclients', String(size + 100)], async (target) => {
    const before = target.memory.now;
    const sockets = await crowd(target, size);
    for (const socket of sockets) socket.write('PING\r\n');
    await wait(3000);
    const connected = await field(target, 'clients', 'connected_clients');
    const each = ((target.memory.now - before) * 1024) / size;
    disperse(sockets);
    await wait(1000);
    const left = await field(target, 'clients', 'connected_clients');
    return `${connected} connected at once, ${each.toFixed(1)} KB each; ${left} after they have left`;
  });
}

const CAP = 262_144;

/** Connections that request far more data than they may leave unread. */
export function slowReaders(size: number): Promise<Finding[]> {
  const flags = ['--client-output-buffer-limit', `normal ${CAP} 0 0 pubsub ${CAP} 0 0`];
  return attack(`${count(size)} readers that do not read, limit 256 KB each`, flags, async (target) => {
    const filler = await target.dial();
    filler.write(`SET big ${'x'.repeat(60_000)}\r\n`);
    const sockets = await crowd(target, size);
    let closed = 0;
    for (const socket of sockets) {
      socket.pause();
      socket.on('close', () => closed++);
    }
    const kept: number[] = [];
    // 6 MB each, in small pieces. The kernel buffers some of it; the server has to keep or discard the rest.
    for (let round = 0; round < 100; round++) {
      for (const socket of sockets) if (!socket.destroyed) socket.write('GET big\r\n');
      await wait(50);
      if (round % 10 === 9) kept.push(Number(await field(target, 'clients', 'connected_clients')) - 3);
    }
    await wait(1000);
    const left = Number(await field(target, 'clients', 'connected_clients')) - 3;
    // A client that was disconnected notices it when it reads.
    for (const socket of sockets) socket.resume();
    await wait(1000);
    disperse([...sockets, filler]);
    return `asked for ${count(size * 6)} MB in all; connected after each tenth of it: ${kept.join(', ')}; ${count(size - left)} cut off, ${count(closed)} saw it`;
  });
}

/** Subscribers that do not read, and a publisher. */
export function deafSubscribers(size: number): Promise<Finding[]> {
  const flags = ['--client-output-buffer-limit', `pubsub ${CAP} 0 0`];
  return attack(`${count(size)} subscribers that do not read, limit 256 KB each`, flags, async (target) => {
    const sockets = await crowd(target, size);
    for (const socket of sockets) {
      socket.write('SUBSCRIBE news\r\n');
      socket.pause();
    }
    const publisher = await target.dial();
    const message = `PUBLISH news ${'x'.repeat(20_000)}\r\n`;
    // Enough to fill the kernel's buffers as well.
    for (let i = 0; i < 300; i++) {
      publisher.write(message);
      await once(publisher, 'data');
    }
    const left = /:(\d+)/.exec(await target.ask('PUBLISH news x'))?.[1];
    disperse([...sockets, publisher]);
    return `${count(size * 6)} MB published in all; ${left} subscribers left`;
  });
}

/** Requests that are announced and never sent, and requests that arrive in pieces until they exceed the limit. */
export function unfinished(size: number): Promise<Finding[]> {
  return attack(`${count(size)} requests announced at 512 MB, none sent`, [], async (target) => {
    const before = target.memory.now;
    const sockets = await crowd(target, size);
    for (const [i, socket] of sockets.entries()) {
      socket.write(i % 2 === 0 ? '*2\r\n$3\r\nGET\r\n$536870000\r\n' : '*2147483647\r\n$3\r\nGET\r\n');
    }
    await wait(2000);
    const grown = target.memory.now - before;
    disperse(sockets);
    return `${count(size / 2)} bulks of 512 MB and ${count(size / 2)} arrays of 2^31 - 1: ${Math.round(grown)} MB more`;
  });
}

/** Clients that send a request without an end. */
export function floods(size: number): Promise<Finding[]> {
  const flags = ['--client-query-buffer-limit', '1mb'];
  return attack(`${size} requests without an end, client-query-buffer-limit 1 MB`, flags, async (target) => {
    const sockets = await crowd(target, size);
    let [sent, closed] = [0, 0];
    const piece = Buffer.alloc(65_536, 120);
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on('close', () => closed++);
        socket.resume().write('*2\r\n$3\r\nGET\r\n$536870000\r\n');
        for (let i = 0; i < 160 && !socket.destroyed; i++) {
          socket.write(piece);
          sent += piece.length;
          await wait(5);
        }
      }),
    );
    await wait(500);
    disperse(sockets);
    return `${Math.round(sent / 2 ** 20)} MB sent; ${closed} of ${size} closed by the server`;
  });
}

/** Clients that have not authenticated. */
export function strangers(size: number): Promise<Finding[]> {
  return attack(`${size} strangers before AUTH`, ['--requirepass', 'secret'], async (target) => {
    const sockets = await crowd(target, size);
    let refused = 0;
    for (const [i, socket] of sockets.entries()) {
      socket.on('data', (chunk) => {
        if (/unauthenticated|NOAUTH/.test(chunk.toString('latin1'))) refused++;
      });
      socket.write(i % 2 === 0 ? '*1000000\r\n' : '*2\r\n$3\r\nGET\r\n$1000000\r\n');
    }
    await wait(1000);
    // Replies that nobody reads: NOAUTH errors accumulate (CVE-2025-21605). See slow readers for the limit.
    disperse(sockets);
    return `${refused} of ${size} requests too long for strangers refused`;
  });
}
