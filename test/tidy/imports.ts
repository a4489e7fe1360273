/** Reads the imports of a source file, those of types among them. */
import type { SourceFile } from './source-text.ts';

const importPattern = /\b(?:import|export)\b[^;'"]*?['"]([^'"\n]+)['"]/g;

/** Each import of a file, with its place in the text and the specifier as it is written. */
export function* imports(file: SourceFile): Iterable<{ at: number; specifier: string }> {
  for (const match of file.text.matchAll(importPattern)) {
    const isCode = /^(import|export)/.test(file.code.slice(match.index));
    const isImport = /\bfrom\s*$|^import\s*\(?\s*$/.test(
      match[0].slice(0, match[0].length - match[1]!.length - 2),
    );
    if (isCode && isImport) yield { at: match.index, specifier: match[1]! };
  }
}

/** The path that a relative specifier names, from the root. */
export function resolveFrom(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
