/** What a project of `npm run test:fresh` is. */

/** A project in a folder of its own. */
export interface FreshProject {
  readonly name: string;
  /** What is installed beside lostlock, with versions. */
  readonly packages: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** The program that runs it, a path below node_modules or a file of its own, and its arguments. */
  readonly run: readonly string[];
  /** What installs the packages; default npm. */
  readonly installer?: 'pnpm' | 'yarn';
  /** The runtime that runs it once, below node_modules, in place of each version of Node. */
  readonly runtime?: readonly [program: string];
  /** What the output says when all is well. */
  readonly expected: RegExp;
  /** It prints the same as all projects that say so. */
  readonly printsTheSame?: boolean;
}
