/** `npx lostlock help PAGE`: prints a page of the documentation that the package carries. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { styleText } from 'node:util';
import { nearest } from '../base/similar.ts';
import { UsageError } from './usage.ts';

/** A page of the documentation. */
interface DocsPage {
  /** Its path in docs/, without `.md`. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

/** The folders of docs/ whose pages are for users. The empty name is docs/ itself. */
const FOLDERS = ['', 'start'];

/** The folder docs/ of this package: beside dist/ in the package, beside cli/ among the sources. */
function docsFolder(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '.')), '..', 'docs');
}

/** Reads all pages. */
function pagesIn(folder: string): DocsPage[] {
  return FOLDERS.flatMap((group) =>
    readdirSync(join(folder, group))
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file) => {
        const text = readFileSync(join(folder, group, file), 'utf8');
        const [, title = file] = /^# (.*)$/m.exec(text) ?? [];
        return { name: join(group, file.slice(0, -3)).replaceAll('\\', '/'), title, text };
      }),
  );
}

/**
 * The page that a word names: `explore`, `explore.md`, `docs/explore.md`, `start/jest` or, where it is unambiguous, `jest`.
 * @throws UsageError when there is none
 */
function pageNamed(pages: readonly DocsPage[], word: string): DocsPage {
  const asked = word
    .toLowerCase()
    .replace(/^(\.?\/)?(docs\/)?/, '')
    .replace(/\.md$/, '');
  const found =
    pages.find(({ name }) => name === asked) ?? pages.find(({ name }) => name === `start/${asked}`);
  if (found !== undefined) return found;
  const meant = nearest(
    asked,
    pages.flatMap(({ name }) => [name, name.replace(/^start\//, '')]),
  );
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new UsageError(`there is no page ${word}${hint}\n'lostlock help' lists the pages`);
}

/** What `lostlock help` alone prints. */
function listOf(pages: readonly DocsPage[]): string {
  const width = Math.max(...pages.map(({ name }) => name.length));
  const lines = pages.map(({ name, title }) => `  ${name.padEnd(width)}  ${title.replaceAll('`', '')}`);
  return `Usage: lostlock help PAGE\n\n${lines.join('\n')}\n\n'lostlock --help' lists the flags of the server.\n`;
}

/** A page for a terminal: headings are bold there, and all else is as it is written. */
function forTerminal(text: string): string {
  let inCode = false;
  return text.replace(/^.*$/gm, (line) => {
    if (line.startsWith('```')) inCode = !inCode;
    return !inCode && /^#+ /.test(line) ? styleText('bold', line) : line;
  });
}

/** Runs the command. Returns the exit status: 0, or 2 for a page that does not exist. */
export function helpCommand(argv: readonly string[]): number {
  const folder = docsFolder();
  const words = argv.filter((word) => word !== '--help' && word !== '-h');
  try {
    if (!existsSync(folder)) throw new UsageError(`the pages are not beside this program (${folder})`);
    const pages = pagesIn(folder);
    if (words.length > 1) throw new UsageError(`help takes one page, not ${words.length}`);
    const [word] = words;
    const text = word === undefined ? listOf(pages) : pageNamed(pages, word).text;
    process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`lostlock: ${error.message}\n`);
    return 2;
  }
}
