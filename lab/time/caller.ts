/** Finds the code that calls a function: its file, its line, and its package. */

/** A place in a file. */
export interface CodePlace {
  /** A path, or a file: URL. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * The first place outside of Node's own modules from which a function is called; undefined when it is not known.
 * @param called the function, on the stack
 * @param depth how many callers are looked at
 */
export function callerOf(called: (...args: never[]) => unknown, depth: number): CodePlace | undefined {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const at: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = depth;
    // Without this, a runner would look for the source of each frame.
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(at, called);
    for (const site of at.stack as NodeJS.CallSite[]) {
      const file = site.getFileName() ?? 'node:';
      if (!file.startsWith('node:')) return { file, line: site.getLineNumber() ?? 1 };
    }
    return undefined;
  } catch {
    return undefined; // Not every runtime has it.
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = prepareStackTrace;
  }
}

/** The name of a file's package, and the file's path in it; undefined for the project's own code. */
export function packageOf(file: string): { readonly name: string; readonly path: string } | undefined {
  const inside = file.split(/[\\/]node_modules[\\/]/).at(-1) ?? file;
  const [, name = '', path = ''] = /^(@[^\\/]+[\\/][^\\/]+|[^.@\\/][^\\/]*)[\\/](.*)/.exec(inside) ?? [];
  return name === '' || inside === file ? undefined : { name: name.replace('\\', '/'), path };
}

/** A place in words: `bluebird (js/release/async.js:61)`, or `test/stock.js:7`. */
export function placeText({ file, line }: CodePlace): string {
  const found = packageOf(file);
  if (found !== undefined) return `${found.name} (${found.path}:${line})`;
  const path = file.startsWith('file:') ? decodeURIComponent(new URL(file).pathname) : file;
  const here = `${process.cwd()}/`;
  return `${path.startsWith(here) ? path.slice(here.length) : path}:${line}`;
}
