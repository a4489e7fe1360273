/** Compiles the code of the playground's clients, JavaScript or TypeScript, and finds the lines of errors of syntax. */
import { transform } from 'sucrase';

/** An async function made from a text. */
export type CompiledBody = (...values: unknown[]) => Promise<unknown>;

const AsyncFunction = (async () => {}).constructor as new (...texts: string[]) => CompiledBody;

/**
 * Compiles the body of an async function. JavaScript runs as it is, so that links keep their hashes; from other code the
 * types are removed first, and every line stays where it is.
 * @param names its parameters
 * @throws SyntaxError whose message begins with the line, such as `Line 3: `
 */
export function compileBody(names: readonly string[], code: string): CompiledBody {
  const made = (body: string): CompiledBody => new AsyncFunction(...names, `'use strict';\n${body}`);
  try {
    return made(code);
  } catch {
    const body = withoutTypes(code);
    try {
      return made(body);
    } catch (error) {
      throw new SyntaxError(`Line ${lineOf(body, error as Error, made)}: ${(error as Error).message}`);
    }
  }
}

/** JavaScript of the same lines. Throws SyntaxError with the line. */
function withoutTypes(code: string): string {
  try {
    return transform(code, { transforms: ['typescript'], disableESTransforms: true }).code;
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    const what = message.replace(/ \(\d+:\d+\)$/, '');
    throw new SyntaxError(loc === undefined ? what : `Line ${loc.line}: ${what}`);
  }
}

/**
 * The line of an error that only the engine finds, such as a name that is declared twice. Engines do not tell it, but they
 * stop at the first error, so that it is the last line of the shortest beginning with the same error.
 */
function lineOf(code: string, { message }: Error, made: (body: string) => unknown): number {
  const lines = code.split('\n');
  for (let count = 1; count < lines.length; count++) {
    try {
      made(lines.slice(0, count).join('\n'));
    } catch (error) {
      if ((error as Error).message === message) return count;
    }
  }
  return lines.length;
}
