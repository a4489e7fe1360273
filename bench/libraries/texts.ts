/** Reads the findings of docs/libraries.md. */

/** A world of the page. */
export interface PlayedRow {
  readonly name: string;
  readonly cause: string;
  readonly outcome: string;
  readonly text: string;
}

/** The texts of the page, by the name of the library: `| cause | outcome | `text` |` under a heading. */
export function* textsOf(markdown: string): Generator<PlayedRow> {
  let name = '';
  for (const line of markdown.split('\n')) {
    if (line.startsWith('### ')) name = line.slice(4);
    const [, cause, outcome, text] = /^\| ([^|]+) \| ([^|]+) \| `([12]:[^`]+)` \|$/.exec(line) ?? [];
    if (cause !== undefined && outcome !== undefined && text !== undefined)
      yield { name, cause, outcome, text };
  }
}
