/** What blocks all clients: keys that expire together, KEYS over all keys, and very long values. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { attack, count, type Finding, megabytes } from './attack.ts';
import type { Target } from './target.ts';

/** Resolves when this many lines have arrived. */
function hear(socket: Socket, lines: number): Promise<void> {
  let heard = 0;
  return new Promise((resolve) => {
    const count = (chunk: Buffer): void => {
      for (const byte of chunk) if (byte === 10) heard++;
      if (heard < lines) return;
      socket.off('data', count);
      resolve();
    };
    socket.on('data', count);
  });
}

/** Sends a pipeline piece by piece. Each command must be answered by one line. */
async function pipeline(socket: Socket, commands: number, atOnce: number, command: (at: number) => string) {
  const answered = hear(socket, commands);
  for (let at = 0; at < commands; ) {
    let piece = '';
    for (const end = Math.min(commands, at + atOnce); at < end; at++) piece += command(at);
    if (!socket.write(piece, 'latin1')) await once(socket, 'drain');
  }
  await answered;
}

async function numberOfKeys(target: Target): Promise<number> {
  return Number((await target.ask('DBSIZE')).slice(1));
}

/** Many keys that expire within one second. */
export function expiries(keys: number): Promise<Finding[]> {
  return attack(`${count(keys)} keys that end within one second`, [], async (target, bystander) => {
    const socket = await target.dial();
    const end = Date.now() + 20_000;
    await pipeline(socket, keys, 1000, (at) => `SET key:${at} v PXAT ${end + (at % 1000)}\r\n`);
    bystander.reset();
    const left = Math.max(0, end - Date.now());
    await new Promise((resolve) => setTimeout(resolve, left));
    while ((await numberOfKeys(target)) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    return `all gone ${count(Date.now() - end)} ms after the first deadline`;
  });
}

/** Adds a note to a finding. */
async function noted(note: string, findings: Promise<Finding[]>): Promise<Finding[]> {
  return [...(await findings), { what: '– note', figures: note }];
}

const ONE_COMMAND = 'one command is one turn, as in Redis: everybody else waits for its end';

/** KEYS over this many keys, which is a single command, as in Redis. */
export function allKeys(keys: number): Promise<Finding[]> {
  const findings = attack(`KEYS * over ${count(keys)} keys`, [], async (target, bystander) => {
    await target.ask(`DEBUG POPULATE ${keys}`);
    const socket = await target.dial();
    bystander.reset();
    const began = performance.now();
    socket.write('KEYS *\r\n');
    await hear(socket, 2 * keys + 1);
    socket.destroy();
    return `answered within ${Math.round(performance.now() - began)} ms`;
  });
  return noted(`${ONE_COMMAND}; SCAN goes in steps`, findings);
}

/** One value of this many megabytes, stored and read. */
export function hugeValue(size: number): Promise<Finding[]> {
  const findings = attack(`one value of ${size} MB, stored and read`, [], async (target, bystander) => {
    const socket = await target.dial();
    bystander.reset();
    const began = performance.now();
    const value = Buffer.alloc(size * 1e6, 'v');
    const stored = hear(socket, 1);
    socket.write(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${value.length}\r\n`);
    socket.write(value);
    socket.write('\r\n');
    await stored;
    const between = performance.now();
    const read = hear(socket, 2);
    socket.write('GET k\r\n');
    await read;
    socket.destroy();
    return `stored within ${Math.round(between - began)} ms, read within ${Math.round(performance.now() - between)} ms`;
  });
  return noted(
    `copied as a whole when its last byte has come, and when it is sent: ${ONE_COMMAND}`,
    findings,
  );
}

/** Values of 1 MiB each in one pipeline, all written to a few keys: how much memory remains in use. */
export function bigValues(values: number): Promise<Finding[]> {
  const findings = attack(
    `${count(values)} values of 1 MiB in one pipeline, deleted again`,
    [],
    async (target) => {
      const socket = await target.dial();
      const value = 'v'.repeat(1 << 20);
      await pipeline(
        socket,
        values,
        1,
        (at) => `*3\r\n$3\r\nSET\r\n$2\r\nk${at % 10}\r\n$${value.length}\r\n${value}\r\n`,
      );
      await target.ask('FLUSHALL');
      socket.destroy();
      const highest = target.memory.now;
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      return `${megabytes(highest)} at once, ${megabytes(target.memory.now)} 20 seconds later`;
    },
  );
  return noted(
    'Node with this program takes about 70 MB; V8 gives back what is above when it next collects, by itself within some seconds of idleness',
    findings,
  );
}
