/**
 * Every parameter of the real servers, as `record.ts` has recorded them: lostlock starts with the default, and with another value,
 * or refuses it with the reason that docs/parameters.md gives.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startOptionsOf } from '../../../cli/start-options.ts';
import { startServer } from '../../../index.ts';
import { type DialectName, dialectNamed } from '../../../server/dialects/index.ts';
import { refusals } from '../../../server/settings/refusals.ts';
import { aliases } from '../../../server/settings/settings.ts';
import { parameterIn } from '../../../server/settings/variants.ts';
import { BadDirective, Configuration } from '../../../start/configuration.ts';
import { parametersPage } from '../../../tools/docs/parameters-page.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { FILE, HIDDEN, type Recorded, type Recording } from './recording.ts';

const recordings = JSON.parse(readFileSync(FILE, 'utf8')) as Record<DialectName, Recording>;
const servers = Object.entries(recordings) as [DialectName, Recording][];
const folder = mkdtempSync(join(tmpdir(), 'lostlock-parameters-'));
mkdirSync(join(folder, 'sub'));
writeFileSync(join(folder, 'users.acl'), '');
afterAll(() => rmSync(folder, { recursive: true }));

const certificates = resolve('test/support/certificates');
const TLS = ['tls-cert-file server.crt', 'tls-key-file server.key', 'tls-ca-cert-file ca.crt'].map((line) =>
  line.replace(' ', ` ${certificates}/`),
);

/** The text with this run's folders in the place of those of the recording. */
function here(text: string): string {
  return text.replaceAll('CERTIFICATES', certificates).replaceAll('DIR', folder);
}

/** Reads the lines as a file of that server. */
function configured(dialect: DialectName, lines: readonly string[]): Configuration {
  const configuration = new Configuration(dialect, true);
  configuration.load([...lines, ''].join('\n'), () => []);
  return configuration;
}

/** What CONFIG GET replies on a server with these lines: the values of these parameters. */
async function started(
  dialect: DialectName,
  lines: readonly string[],
  names: readonly string[],
): Promise<(string | undefined)[]> {
  const configuration = configured(dialect, [`dir ${folder}`, ...lines]);
  const options = startOptionsOf({ configuration, dialect, strict: true, exitWithParent: false });
  // Tests that run beside this one use the usual port.
  await using server = await startServer({ ...options, port: 0, log: () => {} });
  const client = new RawClient(server.connect());
  if (configuration.settings.requirepass !== undefined)
    await client.ask('AUTH', configuration.settings.requirepass);
  const [, pairs] = (await client.ask('CONFIG', 'GET', ...names)).value as [string, RawReply[]];
  client.close();
  const words = pairs.map(([, text]) => String(text));
  return names.map((name) => words[words.indexOf(name) + 1]);
}

/** The reason that lostlock gives for a line; undefined if it takes it. */
function refusalOf(dialect: DialectName, line: string): string | undefined {
  try {
    // The recorded server ran in the folder.
    configured(dialect, [`dir ${folder}`, line]);
    return undefined;
  } catch (error) {
    if (!(error instanceof BadDirective)) throw error;
    return error.message.split('\n').at(-1);
  }
}

/** Other lines without which a parameter of TLS has no meaning. */
function around({ name }: Recorded): string[] {
  if (name === 'tls-cert-file') return [`tls-key-file ${certificates}/client.key`, TLS[2] ?? ''];
  if (name === 'tls-key-file') return [`tls-cert-file ${certificates}/client.crt`, TLS[2] ?? ''];
  return name.startsWith('tls-') ? TLS : [];
}

/** A port for TLS that is asked for is taken; the recording has one that may be in use. */
const NOT_STARTED = new Set(['tls-port', 'port']);
/** What a server inside a process does not do, or shows in another way: it is read, and not started. */
const BY_COMMAND_LINE = new Set(['daemonize', 'pidfile']);

/** The parameter's reason for a refusal, by any of its names. */
function reasonFor(name: string): string | undefined {
  return refusals.get(aliases[name] ?? name)?.why;
}

describe.each(servers)('%s', (dialect, { parameters, ignored, lines }) => {
  test('starts with every default of the real server in one file', async () => {
    const usual = parameters.filter(({ line, name }) => line !== undefined && !BY_COMMAND_LINE.has(name));
    const shown = usual.map(({ name }) => name);
    const values = await started(
      dialect,
      usual.map(({ line = '' }) => here(line)),
      shown,
    );
    const pairs = (of: readonly (string | undefined)[]) => shown.map((name, i) => `${name} ${of[i]}`);
    expect(pairs(values)).toEqual(pairs(usual.map(({ value }) => here(value ?? ''))));
    expect(usual.length).toBeGreaterThan(180);
  });

  test('starts with each other value, and shows it as the real server does, or gives the reason', async () => {
    const wrong: unknown[] = [];
    const refused: string[] = [];
    for (const each of parameters) {
      const { name, other } = each;
      if (other === undefined) continue;
      const line = here(other.line);
      const why = refusalOf(dialect, line);
      if (why !== undefined) {
        if (why !== reasonFor(name)) wrong.push([line, why]);
        refused.push(name);
        continue;
      }
      if (NOT_STARTED.has(name) || BY_COMMAND_LINE.has(name)) continue;
      const values = await started(dialect, [...around(each), line], [name]).catch((error: Error) => error);
      if (!Array.isArray(values) || values[0] !== here(other.shown)) wrong.push([line, values, other.shown]);
    }
    expect(wrong).toEqual([]);
    expect(refused.length).toBeLessThan(25);
  });

  test('reads the names that the real server ignores', () => {
    const known = ignored.map((name) => refusalOf(dialect, `${name} 1`) ?? 'taken');
    const outdated = new Set([
      'list-max-ziplist-entries',
      'list-max-ziplist-value',
      'lua-replicate-commands',
    ]);
    // A file for this server alone has no parameters of others; without --strict it may.
    expect(ignored.filter((name, i) => outdated.has(name) && known[i] !== 'taken')).toEqual([]);
    const lenient = new Configuration(dialect, false);
    for (const name of ignored.filter((each) => !outdated.has(each)))
      expect(() =>
        lenient.load(
          `${name} ${name === 'sanitize-dump-payload' ? 'no' : name.startsWith('events') ? 1 : 'yes'}`,
          () => [],
        ),
      ).not.toThrow();
  });

  test('takes every line of the redis.conf that ships with the real server, or gives the reason', () => {
    const refused = lines.flatMap((line): [string, string][] => {
      const why = refusalOf(dialect, here(line));
      const [name = ''] = line.split(' ');
      return why === undefined || why === reasonFor(name) ? [] : [[line, why]];
    });
    expect(refused).toEqual([]);
  });

  test.skipIf(oracleOf(dialect) === undefined)(
    'has been recorded from a server like the one on this machine (needs that server)',
    async () => {
      await using redis = await startRedisServer({ program: oracleOf(dialect) ?? '' });
      const real = await RawClient.connect({ path: redis.path });
      const names = async (...asked: string[]): Promise<string[]> => {
        const [, pairs] = (await real.ask('CONFIG', 'GET', ...asked)).value as [string, RawReply[]];
        return pairs.map(([, text]) => String(text));
      };
      const theirs = [...(await names('*')), ...(await names(...HIDDEN))];
      const own = new Set(['dir', 'unixsocket', 'maxclients', 'port', 'bind']);
      for (const { name, value } of parameters) {
        if (!own.has(name)) expect([name, theirs[theirs.indexOf(name) + 1]]).toEqual([name, value]);
      }
      const listed = new Set(theirs.filter((_, i) => i % 2 === 0));
      expect([...listed].sort()).toEqual(parameters.map(({ name }) => name).sort());
      real.close();
    },
  );
});

test('each refusal is one of a value that the parameter has in some server', () => {
  for (const [name, refusal] of refusals) {
    const { read, print } = parameterIn(name as 'save', dialectNamed('redis-8.6')) as {
      read(text: string): unknown;
      print(value: unknown): string;
    };
    expect([name, read(print(refusal.only))]).toEqual([name, refusal.only]);
  }
});

test('docs/parameters.md is what the tables generate', () => {
  const page = readFileSync('docs/parameters.md', 'utf8');
  expect(page === parametersPage(), 'docs/parameters.md is out of step: npm run docs').toBe(true);
});
