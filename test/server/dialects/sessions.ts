/**
 * Sessions of requests on the newest servers. Their replies are recorded in test/golden/sessions.json, so that lostlock is
 * compared with them everywhere, and the recording with the server where it is installed.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';

/** The requests are separated by lines. */
export type Session = readonly [name: string, requests: string];

/** The replies of each session, by dialect and session. */
export type RecordedSessions = Record<string, Record<string, readonly string[]>>;

export const SESSIONS_FILE = new URL('../../golden/sessions.json', import.meta.url);

/** Replaces what depends on the time: ids of streams by the order in which they appear, and how long an entry was idle. */
function withoutTimes(replies: readonly string[]): string[] {
  const seen = new Map<string, string>();
  return replies.map((reply) => {
    // CLAIM answers for how long an entry was idle, and how often it was delivered.
    const still = / CLAIM /.test(reply) ? reply.replace(/:\d+\r\n(?=:\d+\r\n)/g, ':idle ') : reply;
    return still.replace(/\$\d+\r\n(1[78]\d{11}-\d+)/g, (_, id: string) => {
      if (!seen.has(id)) seen.set(id, `id ${seen.size + 1}`);
      return seen.get(id) ?? '';
    });
  });
}

/** Splits a line at its blanks; a word in double quotes may contain some. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}

async function repliesTo(client: RawClient, requests: string): Promise<string[]> {
  const out: string[] = [];
  for (const line of requests.split('\n').map((each) => each.trim())) {
    const [name = '', ...rest] = wordsOf(line);
    if (name !== '') out.push(`${line}: ${(await client.ask(name, ...rest)).raw}`);
  }
  client.close();
  return withoutTimes(out);
}

/** What the real server replies. */
export async function askServer(program: string, requests: string): Promise<string[]> {
  await using real = await startRedisServer({ program });
  return await repliesTo(await RawClient.connect({ path: real.path }), requests);
}

/** Tests that a strict node of the dialect answers as its server did when it was recorded, and that the server still does. */
export function testSessions(dialect: DialectName, sessions: readonly Session[]): void {
  const recorded = (JSON.parse(readFileSync(SESSIONS_FILE, 'utf8')) as RecordedSessions)[dialect] ?? {};
  const program = oracleOf(dialect);
  describe.each(sessions)('%s', (name, requests) => {
    test(`the replies of ${dialect} are those that were recorded`, async () => {
      await using server = await startServer({ dialect, strict: true });
      const ours = await repliesTo(await RawClient.connect({ port: server.port }), requests);
      expect(ours).toEqual(recorded[name]);
      expect(ours.length).toBeGreaterThan(10);
    });

    test.skipIf(program === undefined)(
      `the server replies as it was recorded (needs ${dialect})`,
      async () => {
        expect(await askServer(program ?? '', requests)).toEqual(recorded[name]);
      },
    );
  });
}
