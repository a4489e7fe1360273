/**
 * Leaves out of the stacks of errors in worlds what depends on the machine: the folder of the project, and the lines of Node and of this
 * package. Code that stores stacks, as BullMQ does for failed jobs, then stores the same in every folder and on every Node.
 */

/** The folder of this package that has this file, up to its slash: `lab/`, or `dist/`. */
const [, own = ''] =
  /at (?:.*\()?(.+[\\/])[^\\/]+[\\/][^\\/]+:\d+:\d+\)?$/m.exec(new Error().stack ?? '') ?? [];

/** How many worlds are played. They may overlap. */
let worlds = 0;
let restore = (): void => {};

/** Shortens the stacks that are read until the world has been played. */
export async function withShortStacks<T>(play: () => Promise<T>): Promise<T> {
  if (worlds++ === 0) restore = shorten();
  try {
    return await play();
  } finally {
    if (--worlds === 0) restore();
  }
}

function shorten(): () => void {
  const { prepareStackTrace: before } = Error;
  // A test runner's function knows the sources of compiled files.
  const prepare = before ?? ((error, sites) => [headOf(error), ...sites.map(lineOf)].join('\n'));
  const short = (error: Error, sites: NodeJS.CallSite[]): unknown => {
    const stack: unknown = prepare(error, sites);
    return typeof stack === 'string' ? shortened(stack) : stack;
  };
  Error.prepareStackTrace = short;
  return () => {
    if (Error.prepareStackTrace !== short) return;
    if (before === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = before;
  };
}

/** The text above the lines of a stack. An object that is no error, given to Error.captureStackTrace, has the same defaults. */
function headOf({ name = 'Error', message = '' }: Partial<Error>): string {
  return name === '' || message === '' ? `${name}${message}` : `${name}: ${message}`;
}

function lineOf(site: NodeJS.CallSite): string {
  const line = `    at ${site}`;
  const file = site.getFileName();
  const map = file == null ? undefined : process.getBuiltinModule?.('node:module').findSourceMap(file);
  if (map === undefined) return line;
  const { fileName, lineNumber, columnNumber } = map.findOrigin(
    site.getLineNumber() ?? 1,
    site.getColumnNumber() ?? 1,
  ) as SourcePlace;
  return fileName === undefined
    ? line
    : line.replace(/[^( ]+:\d+:\d+/, () => `${fileName}:${lineNumber}:${columnNumber}`);
}

function shortened(stack: string): string {
  const here = `${process.cwd()}/`;
  const lines = stack
    .split('\n')
    .filter((line) => !/^ +at .*\bnode:/.test(line) && !(own !== '' && line.includes(own)));
  return lines.join('\n').replaceAll(`file://${here}`, '').replaceAll(here, '');
}

interface SourcePlace {
  readonly fileName?: string;
  readonly lineNumber?: number;
  readonly columnNumber?: number;
}
