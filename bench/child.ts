/** Measures in a process of its own: what V8 has optimised for other work would change the figures. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * Runs a file of the bench in another process, and returns the figure that it sends. Throws if the process ends without one.
 * @param file its `import.meta.url`
 * @param flags more flags for Node
 */
export async function figureOf(
  file: string,
  words: readonly (string | number)[],
  flags: readonly string[] = [],
): Promise<number> {
  const child = fork(fileURLToPath(file), words.map(String), { execArgv: [...process.execArgv, ...flags] });
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`the process of ${file} ended with status ${status}`);
  });
  const [figure] = (await Promise.race([once(child, 'message'), ended])) as [number];
  return figure;
}

/** The process' part: sends the figure if this file is the program. @param measure gets the words */
export async function serveFigure(
  file: string,
  measure: (words: readonly string[]) => Promise<number>,
): Promise<void> {
  if (process.argv[1] !== fileURLToPath(file)) return;
  process.send?.(await measure(process.argv.slice(2)));
  process.disconnect();
}
