/** Checks the rules of single files and those of the tree, and leaves out lines that are excused. */
import type { Violation } from './rule.ts';
import { rules } from './rules.ts';
import type { SourceFile } from './source-text.ts';
import { treeRules } from './tree.ts';

/** Rules that a line may be excused from, by a comment `tidy <rule>: <reason>` on it or on the line above. */
const excusable = new Set(['bytes', 'sleeps', 'words', 'doors', 'patches', 'arguments', 'suffixes']);

/** Every violation in the files: those of single files in their order, then those of the tree. */
export function violations(files: readonly SourceFile[]): Violation[] {
  const found: Violation[] = [];
  for (const file of files) {
    for (const rule of rules) {
      for (const { at, cure } of rule.check(file)) {
        const line = file.text.slice(0, at).split('\n').length;
        if (!isExcused(file, rule.name, line)) found.push({ rule: rule.name, path: file.path, line, cure });
      }
    }
  }
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const rule of treeRules) {
    for (const { path, at, cure } of rule.check(files)) {
      const file = byPath.get(path)!;
      const line = file.text.slice(0, at).split('\n').length;
      if (!isExcused(file, rule.name, line)) found.push({ rule: rule.name, path, line, cure });
    }
  }
  return found;
}

function isExcused(file: SourceFile, rule: string, line: number): boolean {
  if (!excusable.has(rule)) return false;
  const near = file.comments
    .split('\n')
    .slice(Math.max(0, line - 2), line)
    .join('\n');
  return new RegExp(`// tidy ${rule}: .{10,}`).test(near);
}

/** A violation as one line for a person. */
export function describeViolation({ rule, path, line, cure }: Violation): string {
  return `${path}:${line} [${rule}] ${cure}`;
}
