/** Records transcripts anew on every real server of this machine: `npx tsx test/transcripts/record.ts test/transcripts/string.txt …`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dialectNames } from '../../server/dialects/index.ts';
import { oracleOf } from '../support/oracles.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { isFatalFor } from './gaps.ts';
import { FIRST, recording } from './recording.ts';
import { RECORDABLE, RedisTarget } from './redis.ts';
import { parseTranscript, play, type Section } from './transcript.ts';

const files = process.argv.slice(2);
const programs = dialectNames.flatMap((name): [string, string][] => {
  const program = oracleOf(name);
  return program === undefined ? [] : [[name, program]];
});
if (files.length === 0 || !programs.some(([name]) => name === FIRST)) {
  console.error(`Name the files to record. ${FIRST} must be installed.`);
  process.exit(1);
}

/** A server that is not installed keeps the outcomes that were recorded for it alone. */
function keepAbsent(section: Section, played: Map<string, string[][]>): void {
  const first = played.get(FIRST) ?? [];
  for (const name of dialectNames) {
    if (played.has(name)) continue;
    const kept = section.steps.map(({ elsewhere }, i) => elsewhere.get(name) ?? first[i] ?? []);
    played.set(name, kept);
  }
}

const transcripts = files.map((file) => {
  const sections = parseTranscript(readFileSync(file, 'latin1'));
  return { file, sections, played: sections.map(() => new Map<string, string[][]>()) };
});
for (const [name, program] of programs) {
  await using server = await startRedisServer({ ...RECORDABLE, program });
  const target = await RedisTarget.open(server.path);
  for (const { sections, played } of transcripts) {
    for (const [i, section] of sections.entries())
      played[i]?.set(name, await play(section, target, isFatalFor(name)));
  }
  target.close();
}
for (const { file, sections, played } of transcripts) {
  for (const [i, section] of sections.entries()) keepAbsent(section, played[i] ?? new Map());
  const texts = sections.map((section, i) => recording(section, played[i] ?? new Map()));
  writeFileSync(file, texts.join('\n'), 'latin1');
}
