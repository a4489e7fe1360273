/** Relative paths are taken from `dir`, as the real servers take them after their chdir (test/golden/places.json). */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { ensureBuilt } from '../../support/built.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { PLACES_CASES, PLACES_FILE, type PlacesOutcome, playPlaces } from './places.ts';

const recorded = JSON.parse(readFileSync(PLACES_FILE, 'utf8')) as Record<
  DialectName,
  Record<string, PlacesOutcome>
>;
const folder = mkdtempSync(join(tmpdir(), 'lostlock-places-'));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(ensureBuilt, 120_000);

test('every situation has been recorded', () => {
  for (const outcomes of Object.values(recorded))
    expect(Object.keys(outcomes)).toEqual(PLACES_CASES.map(({ name }) => name));
});

/** The situations in which Valkey has other errors. */
const IN_VALKEY = ['an empty dir', 'CONFIG SET dir'];
const PLAYED = [
  ...PLACES_CASES.map((each) => ['redis-8.2', each.name, each] as const),
  ...PLACES_CASES.filter(({ name }) => IN_VALKEY.includes(name)).map(
    (each) => ['valkey-8.1', each.name, each] as const,
  ),
];

test.each(PLAYED)('as in %s: %s', async (dialect, name, each) => {
  const cli = [process.execPath, resolve('dist/cli.js')] as const;
  const played = await playPlaces(each, cli, ['--dialect', dialect, '--strict', 'yes']);
  expect(played).toEqual(recorded[dialect][name]);
});

for (const dialect of Object.keys(recorded)) {
  const program = oracleOf(dialect);
  test.skipIf(program === undefined)(`${dialect} does what was recorded (needs that server)`, async () => {
    const played: Record<string, PlacesOutcome> = {};
    for (const each of PLACES_CASES) played[each.name] = await playPlaces(each, [program!]);
    expect(played).toEqual(recorded[dialect as DialectName]);
  });
}

test('a server inside a process takes certificates and its socket from its own dir, and leaves the process where it is', async () => {
  const dir = join(folder, 'own');
  mkdirSync(dir);
  for (const name of ['server.crt', 'server.key', 'ca.crt'])
    copyFileSync(join('test/support/certificates', name), join(dir, name));
  const before = process.cwd();
  await using server = await startServer({
    unixSocket: 'u.sock',
    settings: {
      dir,
      'tls-cert-file': 'server.crt',
      'tls-key-file': 'server.key',
      'tls-ca-cert-file': 'ca.crt',
      'tls-auth-clients': 'no',
      'tls-replication': true,
    },
  });
  expect(process.cwd()).toBe(before);
  expect(server.node.settings.unixsocket).toBe('u.sock');
  const client = await RawClient.connect({ path: join(dir, 'u.sock') });
  expect((await client.ask('CONFIG', 'GET', 'unixsocket')).raw).toContain('\r\nu.sock\r\n');
  client.close();
});

test('a restarted server is in the directory of its options again', async () => {
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  for (const each of [one, other]) mkdirSync(each);
  await using server = await startServer({ settings: { dir: one, 'enable-protected-configs': 'yes' } });
  const client = new RawClient(server.connect());
  expect((await client.ask('CONFIG', 'SET', 'dir', other)).raw).toBe('+OK\r\n');
  server.restart();
  const again = new RawClient(server.connect());
  await again.ask('SET', 'k', 'v');
  await again.ask('SAVE');
  expect([existsSync(join(one, 'dump.rdb')), existsSync(join(other, 'dump.rdb'))]).toEqual([true, true]);
  rmSync(join(other, 'dump.rdb'));
  await again.ask('SAVE');
  expect(existsSync(join(other, 'dump.rdb'))).toBe(false);
});
