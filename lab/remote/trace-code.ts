/** The code of a trace's thread as text. In the built package the bundler replaces this file by the text (tools/build.ts). */
import { join } from 'node:path';

let bundled: Promise<string> | undefined;

/** Bundles the thread's code with esbuild, once in a process. */
export function traceCode(): Promise<string> {
  bundled ??= bundleThread(join(import.meta.dirname, 'trace-worker.ts'));
  return bundled;
}

/** Bundles a thread's code as a CommonJS script, so that it also runs where there are no files: in the single executable. */
export async function bundleThread(file: string): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [file],
    write: false,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    charset: 'ascii',
    target: 'node20',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
