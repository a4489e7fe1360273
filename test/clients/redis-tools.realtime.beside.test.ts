/** redis-cli and redis-benchmark, where they are installed, work as on a real server. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import { findProgram } from '../support/redis-server.ts';

const run = promisify(execFile);

test.skipIf(findProgram('redis-cli') === undefined)(
  'redis-cli asks, answers and lists the commands (needs redis-cli)',
  async () => {
    await using server = await startServer({ password: 'secret' });
    const cli = async (...args: string[]) =>
      (await run('redis-cli', ['-p', String(server.port), '-a', 'secret', '--no-auth-warning', ...args]))
        .stdout;
    expect(await cli('SET', 'lock', 'A', 'NX', 'PX', '30000')).toBe('OK\n');
    expect(await cli('SET', 'lock', 'B', 'NX', 'PX', '30000')).toBe('\n');
    expect(await cli('-3', '--json', 'HGETALL', 'none')).toBe('{}\n');
    expect(await cli('EVAL', 'return {1, "two"}', '0')).toBe('1\ntwo\n');
    expect(await cli('--scan')).toBe('lock\n');
  },
);

test.skipIf(findProgram('redis-benchmark') === undefined)(
  'redis-benchmark runs to its end (needs redis-benchmark)',
  async () => {
    await using server = await startServer();
    const args = [
      '-p',
      String(server.port),
      '-n',
      '2000',
      '-c',
      '10',
      '-P',
      '4',
      '-q',
      '-t',
      'ping,set,get,incr,lpush,hset,mset',
    ];
    const { stdout } = await run('redis-benchmark', args);
    expect(stdout).toContain('SET:');
    expect(stdout).not.toContain('ERR');
    expect(server.node.stats.internalErrors).toBe(0);
  },
);
