/** TypeScript as projects have it: what Node cannot run by itself is loaded by tsx, where the project has it. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../usage.ts';

/** Set in a process that tsx loads the files of. */
const MARK = 'LOSTLOCK_EXPLORE_TSX';

/** True in a process in which tsx loads files. It compiles them by itself, so their modules cannot be loaded anew. */
export const isUnderTsx = (): boolean => process.env[MARK] !== undefined;

/** Errors of Node about a file that another compiler would take: its ending, its imports, its kind of modules, its syntax. */
const CODES: readonly unknown[] = [
  ...['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT'],
  ...['ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_NO_TYPESCRIPT'],
  ...['ERR_AMBIGUOUS_MODULE_SYNTAX', 'ERR_REQUIRE_ESM', 'ERR_PACKAGE_PATH_NOT_EXPORTED'],
];

/** The file is TypeScript that Node cannot run and tsx can: start again with these flags of Node, and this environment. */
export class NeedsTsx extends Error {
  readonly flags: readonly string[];
  readonly env = { [MARK]: '1' };

  constructor(loader: string) {
    super('this file needs tsx');
    this.flags = ['--import', pathToFileURL(loader).href];
  }
}

/**
 * What to do about a file that cannot be loaded. Returns NeedsTsx when tsx may help, the message for the user when it would but is not
 * installed, and undefined when it is no matter of TypeScript.
 */
export function aboutTypeScript(file: string, error: unknown): NeedsTsx | UsageError | undefined {
  if (!/\.[cm]?tsx?$/.test(file) || isUnderTsx()) return undefined;
  const { code, message = '' } = error as { code?: unknown; message?: string };
  const isOfModules =
    error instanceof ReferenceError && /\b(require|exports|module|__dirname)\b/.test(message);
  if (!CODES.includes(code) && !(error instanceof SyntaxError) && !isOfModules) return undefined;
  const loader = tsxOf(file);
  if (loader !== undefined) return new NeedsTsx(loader);
  const [why = ''] = message.split('\n');
  return new UsageError(
    `Node ${process.version} cannot run ${file} as it is (${why}): install tsx, which loads it: npm install --save-dev tsx`,
  );
}

/** The loader of the project's tsx. */
function tsxOf(file: string): string | undefined {
  try {
    return createRequire(resolve(file)).resolve('tsx');
  } catch {
    return undefined;
  }
}
