/** The ACL file, compared with each real server: what a start and ACL LOAD make of a file, and what ACL SAVE writes. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { ACL_FILES } from './acl-files.ts';

const SETTINGS = '--aclfile users.acl --save';

/** A server with a folder in which it finds its ACL file. */
interface Side extends AsyncDisposable {
  readonly folder: string;
  join(): Promise<RawClient>;
}

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-acl-'));
  writeFileSync(join(folder, 'users.acl'), text);
  return folder;
}

async function ours(dialect: (typeof dialectNames)[number], text: string): Promise<Side> {
  const folder = folderWith(text);
  try {
    const server = await startServer({ dialect, settings: { dir: folder, aclfile: 'users.acl' } });
    return {
      folder,
      join: async () => new RawClient(server.connect()),
      async [Symbol.asyncDispose]() {
        await server.stop();
        rmSync(folder, { recursive: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

async function theirs(program: string, text: string): Promise<Side> {
  const folder = folderWith(text);
  try {
    const args = [...SETTINGS.split(' '), '', '--dir', folder];
    const redis = await startRedisServer({ program, args });
    return {
      folder,
      join: () => RawClient.connect({ path: redis.path }),
      async [Symbol.asyncDispose]() {
        await redis.stop();
        rmSync(folder, { recursive: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** What a file brings about: the users, or why the server does not start. */
async function outcome(start: () => Promise<Side>): Promise<string> {
  try {
    await using side = await start();
    const client = await side.join();
    const [list, who] = [await client.ask('ACL', 'LIST'), await client.ask('ACL', 'WHOAMI')];
    client.close();
    return list.raw + who.raw;
  } catch (error) {
    return /(?:ACL errors|cannot be loaded): (.*)/.exec(String(error))?.[1] ?? String(error);
  }
}

/** Loads file after file, then what is left behind for clients, and saves. */
async function story({ folder, join: enter }: Side): Promise<string[]> {
  const out: string[] = [];
  const file = join(folder, 'users.acl');
  const admin = await enter();
  const ask = async (client: RawClient, ...words: [string, ...string[]]): Promise<void> => {
    out.push(
      `${words.join(' ')}: ${await client.ask(...words).then(
        ({ raw }) => raw,
        () => 'closed',
      )}`,
    );
  };
  for (const text of Object.values(ACL_FILES)) {
    writeFileSync(file, text);
    out.push(text);
    await ask(admin, 'ACL', 'LOAD');
    await ask(admin, 'ACL', 'LIST');
  }
  const everybody = ['alice', 'bob', 'carol'].map((name) => `user ${name} on nopass ~* &* +@all\n`);
  writeFileSync(file, everybody.join(''));
  await ask(admin, 'ACL', 'LOAD');
  const clients: RawClient[] = [];
  for (const name of ['alice', 'bob', 'carol', 'alice']) {
    const client = await enter();
    await ask(client, 'AUTH', name, '');
    clients.push(client);
  }
  await ask(clients[3]!, 'SUBSCRIBE', 'news');
  writeFileSync(file, 'user alice on nopass ~* &other +@all\nuser bob on nopass ~* &* +get\n');
  await ask(clients[0]!, 'ACL', 'LOAD');
  for (const client of clients) {
    await ask(client, 'ACL', 'WHOAMI');
    client.close();
  }
  await ask(admin, 'ACL', 'WHOAMI');
  await ask(admin, 'ACL', 'SETUSER', 'dora', 'on', '>pw', '(+get ~x)', '%R~y', '&z', '+@read', '+config|get');
  await ask(admin, 'ACL', 'SAVE');
  out.push(readFileSync(file, 'latin1'), ...readdirSync(folder).filter((name) => /acl/.test(name)));
  rmSync(file);
  await ask(admin, 'ACL', 'LOAD');
  mkdirSync(file);
  await ask(admin, 'ACL', 'SAVE');
  await ask(admin, 'ACL', 'LOAD');
  await ask(admin, 'ACL', 'LIST');
  await ask(admin, 'CONFIG', 'GET', 'aclfile');
  await ask(admin, 'CONFIG', 'SET', 'aclfile', 'x');
  out.push(...readdirSync(folder).filter((name) => /acl/.test(name)));
  admin.close();
  return out;
}

describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))('%s', (dialect) => {
  const program = oracleOf(dialect) ?? '';

  test.each(Object.entries(ACL_FILES))('starts alike with %s (needs that server)', async (_, text) => {
    expect(await outcome(() => ours(dialect, text))).toBe(await outcome(() => theirs(program, text)));
  });

  test('loads and saves alike (needs that server)', async () => {
    await using own = await ours(dialect, '');
    await using real = await theirs(program, '');
    expect(await story(own)).toEqual(await story(real));
  });
});
