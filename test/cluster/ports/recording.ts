/** What real clusters with TLS announce, as recorded: a file for each dialect, with a section for each scene. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { DialectName } from '../../../server/dialects/index.ts';
import { SCENES } from './scenes.ts';

/** The dialects whose servers were recorded. */
export const RECORDED: readonly DialectName[] = ['redis-7.0', 'redis-8.0', 'valkey-8.1'];

function fileOf(dialect: DialectName): URL {
  return new URL(`../../golden/cluster-ports/${dialect}.txt`, import.meta.url);
}

/** What each scene told, by its name. */
export function readRecording(dialect: DialectName): ReadonlyMap<string, string> {
  const sections = readFileSync(fileOf(dialect), 'latin1').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end + 1)];
    }),
  );
}

export function writeRecording(dialect: DialectName, told: ReadonlyMap<string, string>): void {
  const text = SCENES.map(({ name }) => `## ${name}\n${told.get(name)}`).join('');
  writeFileSync(fileOf(dialect), text, 'latin1');
}
