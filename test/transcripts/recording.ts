/** Writes the section of a transcript with what several servers did: in full for the first, elsewhere only what differs. */
import type { Section } from './transcript.ts';

/** The server whose outcomes stand first. */
export const FIRST = 'redis-7.0';

/**
 * The text of a section.
 *
 * @param played what each step brought about, for each server by its name
 */
export function recording(section: Section, played: ReadonlyMap<string, readonly string[][]>): string {
  const lines = [`## ${section.name}`];
  for (const [i, { line }] of section.steps.entries()) {
    const first = played.get(FIRST)?.[i] ?? [];
    lines.push(line, ...first);
    const others = new Map<string, string[]>();
    for (const [server, outcomes] of played) {
      const text = (outcomes[i] ?? []).join('\n');
      if (text !== first.join('\n')) others.set(text, [...(others.get(text) ?? []), server]);
    }
    for (const [text, servers] of others) {
      lines.push(`= ${servers.join(' ')}`);
      if (text !== '') lines.push(text);
    }
  }
  return `${lines.join('\n')}\n`;
}
