/** Proves that the oracle starts, answers and leaves nothing behind. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram, hasRedisServer, startRedisServer } from './redis-server.ts';
import { until } from './until.ts';

test('a program that is not installed is not found', () => {
  expect(findProgram('no-such-program-of-lostlock')).toBeUndefined();
});

test('until returns the first truthy result, and its error names what did not happen', async () => {
  let asked = 0;
  expect(await until(() => (asked++ < 3 ? 0 : asked))).toBe(4);
  await expect(until(() => false, { what: 'the moon', limitMs: 5 })).rejects.toThrow('the moon');
});

test.skipIf(!hasRedisServer)(
  'the oracle answers on its port and on its socket (needs redis-server)',
  async () => {
    const server = await startRedisServer({ tcp: true, args: ['--requirepass', 'x'] });
    for (const where of [{ path: server.path }, { port: server.port, host: '127.0.0.1' }]) {
      const socket = connect(where);
      const reply = new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
      socket.write('PING\r\n');
      expect(await reply).toBe('-NOAUTH Authentication required.\r\n');
      socket.destroy();
    }
    await server.stop();
    expect(existsSync(server.dir)).toBe(false);
    await expect(startRedisServer({ args: ['--no-such-option', '1'] })).rejects.toThrow('exited with');
  },
);

test('stop removes the folder although a child of the server still writes into it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-program-'));
  const program = join(dir, 'server');
  // It takes redis-server's arguments; the folder is named behind --dir. Its child outlives it and makes 500 files.
  const script = `#!/bin/sh
while [ "$1" != --dir ]; do shift; done
cd "$2" || exit 1
(i=0; while [ $i -lt 500 ]; do true >"$i"; i=$((i+1)); done) 2>/dev/null &
echo Ready to accept connections
exec tail -f /dev/null
`;
  writeFileSync(program, script, { mode: 0o755 });
  // In some of the rounds a file comes between the removal of the others and of the folder.
  for (let round = 0; round < 10; round++) {
    const server = await startRedisServer({ program });
    await until(() => existsSync(join(server.dir, '10')), { what: 'the first files' });
    await server.stop();
    expect(existsSync(server.dir)).toBe(false);
  }
  rmSync(dir, { recursive: true });
});
