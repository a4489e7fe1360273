/** `npx lostlock explore FILE --replay TEXT --timeline FILE`: the timeline of one world. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chosenFrom } from '../../cli/explore/arguments.ts';

test('--replay TEXT --timeline FILE writes the page of the world, and refuses another name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-story-'));
  const file = join(folder, 'lock.mjs');
  writeFileSync(
    file,
    `export const lock = { name: 'lock', clients: 2, topology: { replicas: 0 }, promises: ['mutual-exclusion'], client: async ({ redis, name, sleep, resource }) => {
      await redis.set('lock', name);
      const inside = resource('stock').enter();
      await sleep(100);
      inside.write();
      inside.leave();
    } };\n`,
  );
  const page = join(folder, 'world.json');
  const argv = ['explore', file, '--replay', '1:1:0:A,B::000000000000', '--timeline'];
  const command = (name: string) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'cli/cli.ts', ...argv, name], { encoding: 'utf8' });
  const done = command(page);
  expect(done.stdout, done.stderr).toContain(`timeline: ${page}\n`);
  expect(done.status).toBe(1);
  expect(JSON.parse(readFileSync(page, 'utf8'))).toMatchObject({
    format: 'lostlock-timeline',
    runs: [{ title: 'lock' }],
  });
  expect(command('world.txt')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/--timeline.*\.html/),
  });
  expect(() => chosenFrom([file, '--timeline', page])).toThrow('--timeline needs --replay');
});
