/** Splits a TypeScript source into its code and its comments, so that rules can look at one without the other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A source file: its path from the repository's root with forward slashes, and its views, all of equal length. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** The text with the insides of comments, strings and regular expressions blanked. */
  readonly code: string;
  /** The text with everything but comments blanked. */
  readonly comments: string;
}

const skippedFolders = new Set(['node_modules', 'dist', '.dist', 'coverage', '.git', 'golden', 'peers']);

/** The TypeScript files below a folder, in a fixed order. */
export function readSources(root: string): SourceFile[] {
  const sources: SourceFile[] = [];
  const walk = (folder: string): void => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) walk(path);
      else if (entry.isFile() && /\.[cm]?ts$/.test(entry.name)) {
        sources.push(sourceFile(path, readFileSync(join(root, path), 'utf8')));
      }
    }
  };
  walk('');
  return sources;
}

type Kind = 'code' | 'line' | 'block' | 'single' | 'double' | 'template' | 'regex' | 'class';

const openers: Record<string, Kind> = { "'": 'single', '"': 'double', '`': 'template' };
const closers: Partial<Record<Kind, string>> = {
  single: "'",
  double: '"',
  template: '`',
  regex: '/',
  class: ']',
};

/** A source file from its text. */
export function sourceFile(path: string, text: string): SourceFile {
  const kinds = classify(text);
  const keep = (wanted: (kind: Kind) => boolean): string => {
    let view = '';
    for (let i = 0; i < text.length; i++) {
      view += text[i] === '\n' || wanted(kinds[i] ?? 'code') ? text[i] : ' ';
    }
    return view;
  };
  return {
    path,
    text,
    code: keep((kind) => kind === 'code'),
    comments: keep((kind) => kind === 'line' || kind === 'block'),
  };
}

/** What each character is part of; quotes and slashes that open or close a literal count as code. */
function classify(text: string): Kind[] {
  const kinds: Kind[] = [];
  const braces: number[] = []; // Open braces inside each template's `${`, innermost last.
  let kind: Kind = 'code';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (kind === 'code') {
      const pair = text.slice(i, i + 2);
      if (pair === '//' || pair === '/*') kind = pair === '//' ? 'line' : 'block';
      else if (char === '/' && opensRegex(text, i)) kind = 'regex';
      else if (char in openers) kind = openers[char] as Kind;
      else if (char === '{' && braces.length > 0) braces[braces.length - 1]!++;
      else if (char === '}' && braces.length > 0 && braces[braces.length - 1]!-- === 0) {
        braces.pop();
        kind = 'template';
      }
      kinds.push(kind === 'line' || kind === 'block' ? kind : 'code');
      continue;
    }
    if (kind === 'line' && char === '\n') kind = 'code';
    const closes: boolean = kind === 'block' ? text.slice(i - 1, i + 1) === '*/' : char === closers[kind];
    const opensHole = kind === 'template' && text.startsWith('${', i);
    kinds.push((closes && kind !== 'block' && kind !== 'class') || opensHole ? 'code' : kind);
    if (char === '\\' && kind !== 'line' && kind !== 'block') {
      kinds.push(kind);
      i++;
    } else if (kind === 'regex' && char === '[') kind = 'class';
    else if (closes) kind = kind === 'class' ? 'regex' : 'code';
    else if (opensHole) {
      braces.push(0);
      kinds.push('code');
      i++;
      kind = 'code';
    }
  }
  return kinds;
}

/** Whether a slash opens a regular expression: it does where a value may stand. */
function opensRegex(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  return (
    before === '' || /[(,=:[!&|?{};+\-*%<>~^]$|\b(return|typeof|case|in|of|do|else|void|throw)$/.test(before)
  );
}
