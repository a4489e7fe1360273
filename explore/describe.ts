/** The text of what was thrown. */
import { inspect } from 'node:util';

/** An error on one line. @param longest in characters */
export function describe(error: unknown, longest = 160): string {
  return lineOf(error instanceof Error ? `${error.name}: ${error.message}` : inspected(error), longest);
}

/** The first line of a text, cut down to so many characters. */
export function lineOf(text: string, longest: number): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > longest ? `${line.slice(0, longest - 3)}...` : line;
}

/** The text of a thrown value that is not an Error. Code may throw any value, even one that has no text. */
function inspected(thrown: unknown): string {
  return typeof thrown === 'object' ? inspect(thrown) : String(thrown);
}
