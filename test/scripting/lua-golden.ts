/** Lua snippets with redis-server 7.0's reply to each, stored in test/golden/lua.golden. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bytes } from '../../protocol/bytes.ts';
import { RawClient } from '../support/raw-client.ts';
import { type RealRedis, startRedisServer } from '../support/redis-server.ts';
import type { RawReply } from '../support/reply-text.ts';
import { withoutSha } from './script-host.ts';

/*
 * How the file is written: '## title', '> snippet' ('@@' is a line's end, '\xff' a byte), '= reply' as show() in
 * script-host.ts prints it. Snippets run in order on one server, each with one key (k1) and two arguments (a1, a2).
 */
const path = join(import.meta.dirname, '..', 'golden', 'lua.golden');

/** One snippet. */
export interface Snippet {
  readonly title: string;
  readonly line: string;
  readonly source: Bytes;
  readonly reply: string;
}

/** The snippets of the file. */
export function luaSnippets(): Snippet[] {
  const snippets: Snippet[] = [];
  let title = '';
  let line = '';
  for (const text of readFileSync(path, 'latin1').split('\n')) {
    if (text.startsWith('## ')) title = text.slice(3);
    else if (text.startsWith('> ')) line = text.slice(2);
    else if (text.startsWith('= '))
      snippets.push({ title, line, source: sourceOf(line), reply: text.slice(2) });
  }
  return snippets;
}

function sourceOf(line: string): Bytes {
  return line
    .replace(/\\x([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(+`0x${digits}`))
    .replaceAll('@@', '\n');
}

/** A redis-server that runs scripts. */
export class LuaOracle {
  readonly #server: RealRedis;
  readonly #client: RawClient;

  private constructor(server: RealRedis, client: RawClient) {
    this.#server = server;
    this.#client = client;
  }

  static async start(): Promise<LuaOracle> {
    const server = await startRedisServer();
    return new LuaOracle(server, await RawClient.connect({ path: server.path }));
  }

  /** Its reply to a script, printed like ours by evaluate() in script-host.ts. */
  async evaluate(source: Bytes): Promise<string> {
    const { value } = await this.#client.ask('eval', source, '1', 'k1', 'a1', 'a2');
    return withoutSha(showRaw(value));
  }

  async stop(): Promise<void> {
    this.#client.close();
    await this.#server.stop();
  }
}

function showRaw([marker, value]: RawReply): string {
  if (value === null) return 'nil';
  if (typeof value !== 'string') return `[${value.map(showRaw).join(', ')}]`;
  return marker === '$' ? JSON.stringify(value) : marker + value;
}

/** Runs each snippet on redis-server again and writes the file. */
export async function recordLuaGolden(): Promise<void> {
  const oracle = await LuaOracle.start();
  const out: string[] = [];
  for (const text of readFileSync(path, 'latin1').split('\n')) {
    if (!text.startsWith('= ')) out.push(text);
    if (text.startsWith('> ')) out.push(`= ${await oracle.evaluate(sourceOf(text.slice(2)))}`);
  }
  await oracle.stop();
  writeFileSync(path, out.join('\n'), 'latin1');
}
