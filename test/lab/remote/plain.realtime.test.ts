/** LAB at a server without a lab: rules, requests, data and time; the rest names the flag --lab. */
import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { labCommand } from '../../../lab/remote/commands.ts';
import { LAB_ONLY, plainLabCommand } from '../../../lab/remote/plain.ts';
import { lackSyntax } from '../../server/table/lacking-syntax.ts';

const NO_PAIR = (): never => {
  throw new Error('no pair');
};

test('time passes, and rules, requests, seed and dump work, at a server that is no lab', async () => {
  await using server = await startServer({ password: 'secret' });
  server.node.elsewhere.set('lab', plainLabCommand(server));
  const stranger = new Redis(server.port, { maxRetriesPerRequest: 0 });
  stranger.on('error', () => {});
  await expect(stranger.call('LAB', 'DUMP')).rejects.toThrow('NOAUTH');
  const client = new Redis(server.url, { maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  const lab = (...words: (string | number)[]): Promise<unknown> => client.call('LAB', ...words);
  await client.set('my:lock', 'A', 'PX', 30_000, 'NX');
  expect(await lab('REQUESTS')).toEqual([]);
  expect(await lab('ADVANCE', 29_000)).toBe('OK');
  expect(await client.get('my:lock')).toBe('A');
  expect(await lab('ADVANCE', 1000)).toBe('OK');
  expect(await client.get('my:lock')).toBeNull();
  expect(await lab('SEED', '{"stock": "5"}')).toBe('OK');
  expect(JSON.parse(String(await lab('DUMP')))).toEqual([
    { db: 0, key: 'stock', type: 'string', value: '5' },
  ]);
  expect(((await lab('REQUESTS', 'COMMAND', 'get')) as unknown[]).length).toBe(2);
  expect(await lab('INTERCEPT', 'ADD', 'COMMAND', 'get', 'NTH', 1, 'ERROR', 'LOADING by a rule')).toBe(1);
  await expect(client.get('stock')).rejects.toThrow('LOADING by a rule');
  expect(await client.get('stock')).toBe('5');
  // A rule for everything leaves LAB alone, or nobody could remove it.
  const all = Number(await lab('INTERCEPT', 'ADD', 'ERROR', 'ERR each'));
  await expect(client.get('stock')).rejects.toThrow('ERR each');
  expect(await lab('INTERCEPT', 'REMOVE', all)).toBe('OK');
  expect(JSON.stringify(await lab('REQUESTS'))).not.toMatch(/"lab"/i);
  await expect(lab('HOLD', 'redis-1', 'redis-2')).rejects.toThrow('start lostlock with --lab');
  await expect(client.call('LAB')).rejects.toThrow('start lostlock with --lab');
  expect(await lab('HELP')).toEqual(expect.arrayContaining(['ADVANCE <milliseconds>', 'HOLD [<word> ...]']));
  await expect(lab('DUMP', 'redis-1')).rejects.toThrow("no node is called 'redis-1'");
  // The table of commands is that of the server whose dialect it has.
  expect(await client.call('COMMAND', 'INFO', 'lab')).toEqual([null]);
  for (const each of [client, stranger]) each.disconnect();
});

test('a server without a lab knows the name of each subcommand of a lab', async () => {
  await using server = await startServer();
  const plain = plainLabCommand(server);
  const names = [...(labCommand(NO_PAIR, NO_PAIR).subcommands?.keys() ?? [])].filter(
    (name) => name !== 'help',
  );
  expect(new Set([...names, 'help'])).toEqual(new Set(plain.subcommands?.keys()));
  expect(LAB_ONLY.length).toBe(new Set(LAB_ONLY).size);
  expect(lackSyntax([plain])).toEqual([]);
});

test('the page about LAB commands has each subcommand, and each field of a reply', async () => {
  const page = await readFile('docs/lab-commands.md', 'utf8');
  const names = [...(labCommand(NO_PAIR, NO_PAIR).subcommands?.keys() ?? [])];
  expect(names.filter((name) => !page.includes(`LAB ${name.toUpperCase()}`))).toEqual([]);
  const replies = await readFile('lab/remote/replies.ts', 'utf8');
  const fields = replies.match(/(?<=^ {4}\[')[a-z-]+(?=', )/gm) ?? [];
  expect(fields.length).toBeGreaterThan(25);
  expect(fields.filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
});

test('Sentinels and nodes of a cluster name the flag too', async () => {
  await using server = await startServer({ sentinels: 1 });
  const sentinel = new Redis(server.sentinels[0]?.port ?? 0);
  await expect(sentinel.call('LAB', 'NODES')).rejects.toThrow('start lostlock with --lab');
  sentinel.disconnect();
  await using node = await startServer({ settings: { 'cluster-enabled': true } });
  const client = new Redis(node.url);
  await expect(client.call('LAB', 'NODES')).rejects.toThrow('start lostlock with --lab');
  client.disconnect();
});
