/** A Sentinel that is started with a sentinel.conf, and keeps its state in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseCommandLine } from '../../cli/command-line.ts';
import { startServer } from '../../index.ts';
import { type FileSentinel, startSentinelFromFile } from '../../start/files/sentinel-file.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-sentinel-file-'));
const path = join(folder, 'sentinel.conf');
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a Sentinel with the text as its file. */
function start(text: string): Promise<FileSentinel> {
  writeFileSync(path, text);
  return startSentinelFromFile(parseCommandLine([path]), () => {});
}

// Every kind of byte that a line of the file cannot hold as it is.
const password = 'a "b" \\ \r\nport 1\n\x00\x7f\xff';

const lines = (): string[] => readFileSync(path, 'utf8').split('\n');

test('keeps comments, and adds its id, its state and what it learns; a restart reads them back', async () => {
  await using primary = await startServer({ replicas: 1 });
  const replica = `sentinel known-replica m 127.0.0.1 ${primary.replicas[0]?.port}`;
  // The directives about a primary may stand above the one that monitors it.
  const text = `# Mine\nport 0\nbind 127.0.0.1\nsentinel failover-timeout m 1000\nsentinel monitor m 127.0.0.1 ${primary.port} 2\n`;
  const first = await start(text);
  const { port } = first.node.settings;
  const client = await RawClient.connect({ port });
  expect((await client.ask('CONFIG', 'REWRITE')).raw).toMatch(/^-ERR unknown command/);
  await until(() => lines().includes(replica), { what: 'the replica in the file' });
  expect((await client.ask('SENTINEL', 'SET', 'm', 'quorum', '3', 'auth-pass', password)).raw).toBe(
    '+OK\r\n',
  );
  client.close();
  const { id } = first.node.sentinel;
  await first.stop();
  const written = lines();
  expect(written.slice(0, 5)).toEqual([
    '# Mine',
    `port ${port}`,
    'bind 127.0.0.1',
    'sentinel failover-timeout m 1000',
    `sentinel monitor m 127.0.0.1 ${primary.port} 3`,
  ]);
  expect(written).toContain(`sentinel myid ${id}`);
  const second = await start(written.join('\n').replace(`port ${port}`, 'port 0'));
  const known = second.node.sentinel.primaries.get('m');
  expect(second.node.sentinel.id).toBe(id);
  expect([known?.quorum, known?.failoverTimeout, known?.password, known?.replicas.size]).toEqual([
    3,
    1000,
    password,
    1,
  ]);
  expect((await RawClient.connect({ port: second.node.settings.port })).ending).toBeUndefined();
  await second.stop();
});

test('keeps the folder that the file names', async () => {
  const { stop } = await start(`port 0\nbind 127.0.0.1\ndir ${folder}\n`);
  await stop();
  expect(lines()).toContain(`dir "${folder}"`);
});

test('a wrong line, a server option and a missing file end the start with the reason', async () => {
  await expect(start('port 0\nsentinel monitor m 127.0.0.1 6379\n')).rejects.toThrow(
    "at line 2\n>>> 'sentinel monitor m 127.0.0.1 6379'\nUnrecognized sentinel configuration statement.",
  );
  await expect(start('sentinel quorum m 1\n')).rejects.toThrow(
    'Unrecognized sentinel configuration statement',
  );
  expect(() => parseCommandLine([path, '--replicas', '1'])).toThrow(
    '--replicas does not work with a Sentinel',
  );
  await expect(startSentinelFromFile(parseCommandLine(['--sentinel']), () => {})).rejects.toThrow(
    'Sentinel needs config file on disk, refusing to start...  Exiting.',
  );
});
