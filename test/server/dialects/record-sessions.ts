/** Records the replies of the newest servers that are installed: `npx tsx test/server/dialects/record-sessions.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { oracleOf } from '../../support/oracles.ts';
import { SESSIONS as redis86 } from './redis-8.6-sessions.ts';
import { askServer, type RecordedSessions, SESSIONS_FILE, type Session } from './sessions.ts';
import { SESSIONS as valkey9 } from './valkey-9-sessions.ts';

const recorded = JSON.parse(readFileSync(SESSIONS_FILE, 'utf8')) as RecordedSessions;
const all: Record<string, readonly Session[]> = { 'redis-8.6': redis86, 'valkey-9': valkey9 };
for (const [dialect, sessions] of Object.entries(all)) {
  const program = oracleOf(dialect);
  if (program === undefined) console.log(`${dialect} is not installed: its replies stay as they were`);
  else {
    const replies: Record<string, readonly string[]> = {};
    for (const [name, requests] of sessions) replies[name] = await askServer(program, requests);
    recorded[dialect] = replies;
  }
}
writeFileSync(SESSIONS_FILE, `${JSON.stringify(recorded, undefined, 1)}\n`);
