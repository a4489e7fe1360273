/** What a rule of the repository is, and what it finds. */
import type { SourceFile } from './source-text.ts';

/** A broken rule: where, and what to write instead. */
export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly cure: string;
}

/** One rule; `name` is what a line's excuse must call it by. */
export interface Rule {
  readonly name: string;
  check(file: SourceFile): Iterable<Finding>;
}

/** The place of a finding as an offset into the text, and its cure. */
export interface Finding {
  readonly at: number;
  readonly cure: string;
}

/** A rule about the tree as a whole. */
export interface TreeRule {
  readonly name: string;
  check(files: readonly SourceFile[]): Iterable<Finding & { readonly path: string }>;
}
