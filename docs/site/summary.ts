/** What a page is about in a line, for search engines and language models: its first sentences. */

/** How long a line should be at least, in characters: the first sentence alone may say little. */
const ENOUGH = 60;

/** The first sentences of a Markdown text that are no heading, list or code, without their markup. */
export function summary(markdown: string): string {
  const prose = markdown.replace(/^```[\s\S]*?^```$|^#.*$|^<!--.*$/gm, '');
  const [, paragraph = ''] = /(?:^|\n\n)([A-Za-z`[][^\n]*(?:\n[^\n]+)*)/.exec(prose) ?? [];
  const sentences = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/:$/, '.')
    .split(/(?<=[.:]) (?=[A-Z])/);
  let line = '';
  for (const sentence of sentences) if (line.length < ENOUGH) line += `${line === '' ? '' : ' '}${sentence}`;
  return line;
}

/** A page with its description, which VitePress writes into the head. @param more what else VitePress is told about the page */
export function described(
  description: string,
  markdown: string,
  more: Readonly<Record<string, string | boolean>> = {},
): string {
  const lines = Object.entries({ description, ...more }).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}\n`,
  );
  return `---\n${lines.join('')}---\n\n${markdown}`;
}
