/**
 * How the pages install lostlock. While its name on npm is not ours, they install the file that `npm pack` writes in a clone beside
 * the project. `npx tsx tools/release/install-lines.ts` switches every page to the registry, when the first version is published there.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The packed file as a project beside the clone names it. */
const PACKED = /\.\.\/lostlock\/lostlock-\d+\.\d+\.\d+\.tgz/g;

/** The sentences that say that the package is not published, with what follows each until its paragraph goes on. */
const SENTENCES: readonly RegExp[] = [
  // A paragraph of its own.
  /^lostlock is not on npm yet[^\n]*(?:\n(?!\n)[^\n]*)*\n\n/gm,
  // In brackets, behind a command.
  / \(lostlock is \[not on npm yet\]\([^)]*\)\)/g,
  /\n\(lostlock is \[not on npm yet\]\([^)]*\)\)/g,
  // A line that writes the packed file.
  /^npm pack .*\n/gm,
];

/** The folders whose Markdown pages say how to install. */
const FOLDERS = ['.', 'docs', 'docs/start', 'integrations/pytest', 'integrations/go', 'integrations/junit'];

/** The pages that may say how to install, from the root of the repository. */
export function installPages(): string[] {
  return FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
      .map((name) => join(folder, name)),
  );
}

/** The text of a page as it is when lostlock can be installed from npm. */
export function published(text: string): string {
  return SENTENCES.reduce((rest, sentence) => rest.replace(sentence, ''), text).replace(PACKED, 'lostlock');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const page of installPages()) {
    const text = readFileSync(page, 'utf8');
    if (published(text) !== text) writeFileSync(page, published(text));
  }
}
