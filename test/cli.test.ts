/** The command line as other programs use it: the ready line, an answer, and a clean end on both signals. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

/** Starts `lostlock` from its sources with the flags given; resolves with its port once it says that it is ready. */
async function startCli(...flags: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'cli.ts', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('\n')) break;
  }
  const port = Number(/^Ready to accept connections tcp (\d+)$/m.exec(printed)?.[1]);
  return { child, port, printed };
}

/** Sends one line and returns what comes back before the server closes. */
async function talk(port: number, text: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`it serves, and ends with status 0 on ${signal} though a client is connected`, async () => {
    const { child, port, printed } = await startCli('--port', '0');
    expect(printed).toBe(`Ready to accept connections tcp ${port}\n`);
    expect(await talk(port, 'ECHO hello\r\nSELECT 3\r\nSET k v\r\nGET k\r\nQUIT\r\n')).toBe(
      '$5\r\nhello\r\n+OK\r\n+OK\r\n$1\r\nv\r\n+OK\r\n',
    );
    const idle = createConnection(port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
}

test('SHUTDOWN ends it with status 0', async () => {
  const { child, port } = await startCli('--port', '0');
  const ended = once(child, 'exit');
  await talk(port, 'SHUTDOWN NOSAVE\r\n');
  expect(await ended).toEqual([0, null]);
});

test('it ends when the shell that npm started it through is gone', async () => {
  const command = `"${process.execPath}" --import tsx cli.ts --port 0; true`;
  const shell = spawn('sh', ['-c', command], { env: { ...process.env, npm_command: 'exec' } });
  const [line] = await once(shell.stdout, 'data');
  const port = Number(String(line).split(' ').pop());
  const client = createConnection(port, '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => client.once('close', resolve));
  await once(client, 'connect');
  shell.kill('SIGTERM');
  await closed;
});

test('a flag that does not exist, a bad value and a taken port end it with the reason', async () => {
  const fails = (...flags: string[]): string => {
    const run = spawnSync(process.execPath, ['--import', 'tsx', 'cli.ts', ...flags], { encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([expect.toSatisfy((status) => status > 0), '']);
    return run.stderr;
  };
  expect(fails('--prot', '7000')).toMatch(/^lostlock: --prot is no parameter/);
  expect(fails('--port', '70000')).toMatch(/^lostlock: --port 70000: argument must be between 0 and 65535/);
  const { child, port } = await startCli('--port', '0');
  expect(fails('--port', String(port))).toContain('EADDRINUSE');
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('--version is the version of the package', () => {
  const run = spawnSync(process.execPath, ['--import', 'tsx', 'cli.ts', '--version'], { encoding: 'utf8' });
  expect(run.stdout).toBe(`lostlock ${manifest.version}\n`);
});
