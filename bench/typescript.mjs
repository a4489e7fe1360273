/**
 * Lets Node run TypeScript as it would run the built package: `node --import ./bench/typescript.mjs FILE`. Other loaders
 * keep the names of functions, which costs a call for each function that is created, and so distorts measurements.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from 'esbuild';

// Node runs this file twice: as it is told to, and on the thread of its loader.
if (isMainThread) register(import.meta.url);

/** The hook that loads a module. */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return await next(url, context);
  const sourcefile = fileURLToPath(url);
  const text = await readFile(sourcefile, 'utf8');
  const { code } = await transform(text, { sourcefile, loader: 'ts', format: 'esm', target: 'node20' });
  return { format: 'module', source: code, shortCircuit: true };
}
