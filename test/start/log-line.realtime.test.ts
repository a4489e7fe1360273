/** Log lines are written as redis-server writes them. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import { LOG_LEVELS, logLine } from '../../start/log-line.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { Talk } from '../support/talk.ts';

const at = new Date(2026, 10, 2, 1, 2, 3, 4).getTime();

/** What tools look for in each line of redis-server's log. */
const LINE = /^\d+:[MSXC] \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} [.*#-] \S/;

test('a line contains the process id, the role, the local time and the level', () => {
  expect(logLine('notice', 'Ready to accept connections tcp 6379', { pid: 12345, role: 'primary', at })).toBe(
    '12345:M 02 Nov 2026 01:02:03.004 * Ready to accept connections tcp 6379',
  );
  const lines = LOG_LEVELS.map((level) => logLine(level, 'text', { pid: 7, role: 'replica', at }));
  expect(lines.map((line) => line.slice(-6))).toEqual(['. text', '- text', '* text', '# text']);
  expect(lines.every((line) => line.startsWith('7:S ') && LINE.test(line))).toBe(true);
});

test.skipIf(!hasRedisServer)("redis-server's lines have the same form (needs redis-server)", async () => {
  const args = ['--port', '0', '--unixsocket', `/tmp/lostlock-log-${process.pid}.sock`, '--save', ''];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    // A second signal would cut into the line about the first.
    if (!child.killed && printed.includes('ready to accept')) child.kill();
  }
  const lines = printed.trim().split('\n');
  expect(lines.filter((line) => !LINE.test(line) && !line.includes(':signal-handler '))).toEqual([]);
  expect(lines.length).toBeGreaterThan(3);
});

test('a server passes its role with each line', async () => {
  const roles: string[] = [];
  await using server = await startServer({
    log: (_level, text, role) => void roles.push(`${role}: ${text}`),
  });
  const talk = new Talk(server.node);
  await talk.ask('DEBUG LOG first');
  await talk.ask('REPLICAOF 127.0.0.1 1');
  await talk.ask('DEBUG LOG second');
  expect(roles.filter((line) => line.includes('DEBUG'))).toEqual([
    'primary: DEBUG LOG: first',
    'replica: DEBUG LOG: second',
  ]);
});
