/** What an append-only file promises: acknowledged writes survive kill -9, and with always they are synced before the reply. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../../support/built.ts';
import { sampleOf } from '../../support/long.ts';
import { RawClient } from '../../support/raw-client.ts';
import { findProgram } from '../../support/redis-server.ts';
import { request } from '../../support/reply-text.ts';
import { crash, portOf, storingServer } from './crashes.ts';
import { scratch } from './sides.ts';

beforeAll(ensureBuilt);

test('a killed server has every acknowledged write when it comes back', async () => {
  const { lost, acknowledged } = await crash({ kills: sampleOf(100, 2), seed: 3, appendfsync: 'always' });
  expect(lost).toEqual([]);
  expect(acknowledged).toBeGreaterThan(0);
}, 600_000);

test.skipIf(findProgram('strace') === undefined)(
  'with appendfsync always, fdatasync precedes the reply (needs strace)',
  async () => {
    using place = scratch();
    const trace = join(place.folder, 'trace');
    const calls = 'trace=write,writev,sendto,sendmsg,fdatasync';
    const flags = ['--logfile', join(place.folder, 'log')];
    const [portFile, command] = storingServer(place.folder, 'always', flags);
    const traced = ['-f', '-s', '64', '-e', calls, '-o', trace, process.execPath, ...command];
    const child = spawn('strace', traced, { stdio: 'ignore' });
    const exited = once(child, 'exit');
    try {
      const client = await RawClient.connect({ port: await portOf(child, portFile) });
      await client.send(request('SET', 'key', 'first'));
      expect((await client.read()).raw).toBe('+OK\r\n');
      await client.send(request('SHUTDOWN', 'NOSAVE'));
      await exited;
    } finally {
      child.kill('SIGKILL');
    }
    const lines = readFileSync(trace, 'latin1').split('\n');
    const written = lines.findIndex((line) => line.includes('$3\\r\\nkey'));
    const synced = lines.findIndex(
      (line, at) => at > written && /fdatasync\(.*= 0|fdatasync resumed.*= 0/.test(line),
    );
    const replied = lines.findIndex((line, at) => at > written && /"\+OK\\r\\n"/.test(line));
    expect(written).toBeGreaterThan(0);
    expect(synced).toBeGreaterThan(written);
    expect(replied).toBeGreaterThan(synced);
  },
  60_000,
);
