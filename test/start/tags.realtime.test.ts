/** Which server answers for a tag, and what a node has whose dialect is named. */
import { expect, test } from 'vitest';
import { RedisMemoryServer } from '../../adapters/redis-memory-server.ts';
import { RedisContainer } from '../../adapters/testcontainers.ts';
import { startServer } from '../../index.ts';
import { Configuration } from '../../start/configuration.ts';
import { dialectOfImage, substituteFor } from '../../start/version.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

test.each([
  ['redis', undefined, undefined],
  ['redis:latest', undefined, undefined],
  ['redis:7', 'redis-7.0', undefined],
  ['redis:7.4-alpine', 'redis-7.0', 'redis-server 7.0.15'],
  ['redis:8', 'redis-8.2', undefined],
  ['redis:8.0', 'redis-8.0', undefined],
  ['redis:8.1', 'redis-8.0', 'redis-server 8.0.2'],
  ['redis:8.2.3', 'redis-8.2', undefined],
  ['redis:8.2.9', 'redis-8.2', 'redis-server 8.2.3'],
  ['redis:8.4', 'redis-8.2', 'redis-server 8.2.3'],
  ['redis:8.6', 'redis-8.6', undefined],
  ['docker.io/library/redis:8.10', 'redis-8.8', 'redis-server 8.8.0'],
  ['valkey/valkey:8', 'valkey-8.1', undefined],
  ['valkey/valkey:9', 'valkey-9', undefined],
  ['valkey/valkey:9.0', 'valkey-9', 'valkey-server 9.1.2'],
] as const)('%s is answered by the dialect %s', (image, dialect, server) => {
  expect(dialectOfImage('image', image)).toBe(dialect);
  const said = server && `${image} is answered as ${server}, the dialect ${dialect}`;
  expect(substituteFor(image, dialect)).toBe(said);
});

test('the log of a container says once which server answers for a tag without a dialect', async () => {
  let log = '';
  const container = new RedisContainer('redis:8.4').withLogConsumer((stream) => {
    stream.on('data', (line) => (log += line));
  });
  await using started = await container.start();
  const client = await RawClient.connect({ port: started.getPort() });
  expect((await client.ask('INFO', 'server')).raw).toContain('redis_version:8.2.3');
  client.close();
  expect(log.split('redis:8.4 is answered as redis-server 8.2.3, the dialect redis-8.2').length).toBe(2);
});

test('RedisMemoryServer warns once which server answers for a version without a dialect', async () => {
  const warnings: string[] = [];
  const hear = ({ message }: Error): number => warnings.push(message);
  process.on('warning', hear);
  try {
    for (const version of ['8.4', '8.4', '8.2']) {
      await using server = await RedisMemoryServer.create({ binary: { version } });
      await server.ensureInstance();
    }
    await until(() => warnings.length > 0, { what: 'a warning' });
  } finally {
    process.off('warning', hear);
  }
  const text = 'RedisMemoryServer: 8.4 is answered as redis-server 8.2.3, the dialect redis-8.2';
  expect(warnings).toEqual([text]);
});

test('a node whose dialect is named has what that server has, and nothing more, unless it is asked for', async () => {
  const plans = [
    { options: {}, delex: true, timed: true },
    { options: { strict: true }, delex: false, timed: true },
    { options: { dialect: 'redis-7.0' }, delex: false, timed: false },
    { options: { dialect: 'redis-8.2' }, delex: false, timed: true },
    { options: { dialect: 'redis-7.0', strict: false }, delex: true, timed: true },
  ] as const;
  for (const { options, delex, timed } of plans) {
    await using server = await startServer(options);
    const client = await RawClient.connect({ port: server.port });
    const serves = async (name: string, ...words: string[]) =>
      !(await client.ask(name, ...words)).raw.includes('unknown command');
    expect([options, await serves('DELEX', 'k')]).toEqual([options, delex]);
    expect([options, await serves('HPEXPIRE', 'h', '10', 'FIELDS', '1', 'f')]).toEqual([options, timed]);
    client.close();
  }
});

test('a configuration file for a named dialect has the parameters of that server', () => {
  const load = (configuration: Configuration) => configuration.load('hide-user-data-from-log yes', () => []);
  expect(() => load(new Configuration('redis-7.0'))).toThrow(/Bad directive or wrong number of arguments/);
  expect(() => load(new Configuration('redis-7.0', false))).not.toThrow();
  expect(() => load(new Configuration())).not.toThrow();
});
