/** A server of ours and a real one, each with an append-only file in a folder of its own, and what they wrote. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../../../base/defined.ts';
import { type LostlockServer, startServer } from '../../../index.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import type { Settings } from '../../../server/settings/settings.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { printReply, request } from '../../support/reply-text.ts';
import { splitWords } from '../../transcripts/transcript.ts';

/** A running server with an append-only file. */
export interface Side extends AsyncDisposable {
  readonly folder: string;
  /** Sends lines, words as redis-cli splits them, and returns the printed replies. */
  ask(...lines: string[]): Promise<string[]>;
}

/** Makes an empty folder that is removed at the end of the test that calls `using`. */
export function scratch(): { readonly folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-aof-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

async function sideOf(client: RawClient, folder: string, stop: () => Promise<void>): Promise<Side> {
  return {
    folder,
    async ask(...lines) {
      const replies: string[] = [];
      for (const line of lines) {
        const [name = '', ...words] = splitWords(line);
        await client.send(request(name, ...words));
        replies.push(printReply((await client.read()).value));
      }
      return replies;
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await stop();
    },
  };
}

/** Starts a server of ours on a folder. */
export async function startOurs(
  folder: string,
  dialect: DialectName = 'redis-7.0',
  settings: Partial<Settings> = {},
  log: string[] = [],
): Promise<Side & { readonly server: LostlockServer }> {
  const server = await startServer({
    dialect,
    settings: { dir: folder, appendonly: true, save: '', 'enable-debug-command': 'yes', ...settings },
    log: (_level, text) => log.push(text),
  });
  const client = await RawClient.connect(server.connect());
  return { ...(await sideOf(client, folder, () => server.stop())), server };
}

/** Starts the real server of a dialect on a folder. Rejects with what it printed when it exits. */
export async function startTheirs(
  folder: string,
  dialect = 'redis-7.0',
  settings: readonly string[] = [],
): Promise<Side> {
  const program = oracleOf(dialect);
  const redis = await startRedisServer({
    args: ['--dir', folder, '--appendonly', 'yes', '--enable-debug-command', 'yes', ...settings],
    ...defined({ program }),
  });
  const client = await RawClient.connect({ path: redis.path });
  return sideOf(client, folder, () => redis.stop());
}

/** The files of an append-only file by name, as byte strings; times in milliseconds are left out. */
export function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(join(folder, 'appendonlydir')).sort();
  return Object.fromEntries(names.map((name) => [name, readAof(folder, name)]));
}

function readAof(folder: string, name: string): string {
  const bytes = readFileSync(join(folder, 'appendonlydir', name), 'latin1');
  return name.endsWith('.rdb') ? 'RDB' : bytes.replace(/\b1[6-9]\d{11}\b/g, 'TIME');
}

/** What redis-check-aof says about the manifest's files. Throws when it is not content. */
export function checkAof(folder: string, name = 'appendonly.aof.manifest'): string {
  return execFileSync('redis-check-aof', [join(folder, 'appendonlydir', name)], { encoding: 'latin1' });
}
