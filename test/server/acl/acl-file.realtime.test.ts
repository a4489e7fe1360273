/** The ACL file on our own server: starts, ACL LOAD, ACL SAVE, replicas and restarts. What it answers is compared in the test beside. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, startServers } from '../../../index.ts';
import { RawClient } from '../../support/raw-client.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lostlock-acl-'));
  file = join(folder, 'users.acl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const ALICE = 'user alice on nopass ~* &* +@all';
const DEFAULT = 'user default on nopass ~* &* +@all';
const starting = (settings: object = {}, options: object = {}) =>
  startServer({
    dialect: 'redis-7.0',
    settings: { dir: folder, aclfile: 'users.acl', ...settings },
    ...options,
  });

async function linesOf(client: RawClient): Promise<string[]> {
  const { raw } = await client.ask('ACL', 'LIST');
  return raw.split('\r\n').filter((line) => line.startsWith('user '));
}

test('a start takes the users of the file, seen from dir', async () => {
  writeFileSync(file, `${ALICE}\n`);
  await using server = await starting();
  const client = new RawClient(server.connect());
  expect(await linesOf(client)).toEqual([ALICE, DEFAULT]);
  client.close();
});

test('a start fails of a file that is wrong, missing, or stands beside other users', async () => {
  await expect(starting()).rejects.toThrow(
    "the ACL file cannot be loaded: Error loading ACLs, opening file 'users.acl': No such file or directory",
  );
  writeFileSync(file, 'user alice +nosuch bad\nusr\n');
  await expect(starting()).rejects.toThrow(
    "users.acl:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. " +
      'users.acl:1: Syntax error. users.acl:2 should start with user keyword followed by the username. WARNING: ACL errors detected, ' +
      'no change to the previously active ACL rules was performed',
  );
  await expect(starting({}, { users: { bob: 'on' } })).rejects.toThrow(
    'the users are either in the file or here',
  );
  const lab = startServers({ clock: 'virtual', settings: { aclfile: 'users.acl' } });
  await expect(lab).rejects.toThrow('a node of the lab reads no ACL file');
});

test('ACL SAVE writes what ACL LOAD and a restart read', async () => {
  writeFileSync(file, '');
  await using server = await starting();
  const client = new RawClient(server.connect());
  await client.ask('ACL', 'SETUSER', 'bob', 'on', '>pw', '(+get ~x)', '%R~y', '&z', '+@read');
  expect((await client.ask('ACL', 'SAVE')).raw).toBe('+OK\r\n');
  const saved = await linesOf(client);
  expect(saved).toHaveLength(2);
  expect(readFileSync(file, 'latin1')).toBe(saved.map((line) => `${line}\n`).join(''));
  expect(readdirSync(folder)).toEqual(['users.acl']);
  await client.ask('ACL', 'DELUSER', 'bob');
  expect((await client.ask('ACL', 'LOAD')).raw).toBe('+OK\r\n');
  expect(await linesOf(client)).toEqual(saved);
  await client.ask('ACL', 'DELUSER', 'bob');
  client.close();
  await server.restart();
  const later = new RawClient(server.connect());
  expect(await linesOf(later)).toEqual(saved);
  later.close();
});

test('a file that cannot be loaded or written changes nothing', async () => {
  writeFileSync(file, `${ALICE}\n`);
  const log: string[] = [];
  await using server = await starting({}, { log: (_: string, text: string) => log.push(text) });
  const client = new RawClient(server.connect());
  const users = await linesOf(client);
  writeFileSync(file, 'user bob on\nuser bob on\n');
  expect((await client.ask('ACL', 'LOAD')).raw).toBe(
    "-ERR WARNING: Duplicate user 'bob' found on line 2. WARNING: ACL errors detected, no change to the previously active ACL rules was performed\r\n",
  );
  expect(await linesOf(client)).toEqual(users);
  rmSync(file);
  mkdirSync(file);
  expect((await client.ask('ACL', 'SAVE')).raw).toBe(
    '-ERR There was an error trying to save the ACLs. Please check the server logs for more information\r\n',
  );
  expect(log.filter((text) => text.startsWith('ACL SAVE cannot write'))).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(['users.acl']);
  client.close();
});

test.each([
  ['redis-7.0', ['end', 'end', 'end']],
  ['redis-8.2', [undefined, 'end', undefined]],
] as const)('on %s, ACL LOAD closes the connections that it must', async (dialect, endings) => {
  writeFileSync(file, `${ALICE}\n${ALICE.replace('alice', 'bob')}\n`);
  await using server = await starting({}, { dialect });
  const [admin, ...clients] = Array.from({ length: 4 }, () => new RawClient(server.connect()));
  for (const [i, name] of ['alice', 'bob', 'alice'].entries()) await clients[i]!.ask('AUTH', name, '');
  writeFileSync(file, `${ALICE}\n`);
  // The last one loads, and has its reply in any case.
  expect((await clients[2]!.ask('ACL', 'LOAD')).raw).toBe('+OK\r\n');
  for (const client of clients) await client.ask('PING').catch(() => {});
  expect(clients.map(({ ending }) => ending)).toEqual(endings);
  expect((await admin!.ask('PING')).raw).toBe('+PONG\r\n');
  for (const client of [admin!, ...clients]) client.close();
});

test('a replica has the users of its primary’s file', async () => {
  writeFileSync(file, `${ALICE}\n`);
  await using server = await starting({}, { replicas: 1 });
  const client = new RawClient(server.replicas[0]!.connect());
  expect(await linesOf(client)).toEqual([ALICE, DEFAULT]);
  client.close();
});
