/** The warning of a server that anybody can use who reaches its port, as the container's. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../cli/command-line.ts';
import { startOptionsOf } from '../../cli/start-options.ts';
import { startServer } from '../../index.ts';

/** What a server with these flags warns of, with its port replaced by N. */
async function warnings(words: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  const options = startOptionsOf(parseCommandLine([...words, '--port', '0']));
  await using server = await startServer({
    ...options,
    log: (level, text) => void (level === 'warning' && lines.push(text)),
  });
  return lines.map((line) => line.replaceAll(String(server.port), 'N'));
}

/** The words of the Dockerfile's last CMD. */
function containerFlags(): string[] {
  const [, words = '[]'] = /^CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  return JSON.parse(words) as string[];
}

test('the container warns, and names two ways out', async () => {
  const [line, ...more] = await warnings(containerFlags());
  expect(more).toEqual([]);
  expect(line).toMatch(/^WARNING: everybody who reaches port N can read and change all data: .* 0\.0\.0\.0/);
  expect(line).toContain('a password (--requirepass WORD)');
  expect(line).toContain('a network of its own');
});

const open = ['--protected-mode', 'no'];
test.each([
  ['all addresses', [...open, '--bind', '*'], true],
  ['all addresses of both kinds', [...open, '--bind', '-::', '0.0.0.0'], true],
  [
    'all addresses and a user who needs no password',
    [...open, '--bind', '*', '--user', 'default', 'on', 'nopass'],
    true,
  ],
  ['this machine only', [...open, '--bind', '127.0.0.1', '-::1'], false],
  ['all addresses in protected mode', ['--bind', '*'], false],
  ['all addresses with a password', [...open, '--bind', '*', '--requirepass', 'x'], false],
  ['all addresses, the user default being off', [...open, '--bind', '*', '--user', 'default', 'off'], false],
])('%s', async (_, words, warns) => {
  expect(await warnings(words)).toHaveLength(warns ? 1 : 0);
});

test('README and Dockerfile say both ways out', () => {
  for (const name of ['README.md', 'Dockerfile']) {
    const text = readFileSync(name, 'utf8').replaceAll(/\n#? ?/g, ' ');
    expect(text).toMatch(/--requirepass \w+/);
    expect(text).toContain('docker run --network tests');
    expect(text).toContain('docker run -p 127.0.0.1:6379:6379 lostlock');
  }
});
