/** A hook of Node's module loader: gives the compiled file where a source of the project is imported. */
import { readFile, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cache = `${root}node_modules/.cache/lostlock-tests/`;

async function changedAt(path) {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** Compiles a source that has changed since the run began, as it does while Vitest watches. */
async function compile(path) {
  const { transform } = await import('esbuild');
  const text = await readFile(path, 'utf8');
  const options = { loader: 'ts', format: 'esm', target: 'node20.19', sourcemap: 'inline', sourcefile: path };
  return (await transform(text, options)).code;
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !/\.ts(\?|$)/.test(url)) return next(url, context);
  const path = fileURLToPath(url);
  const name = relative(root, path);
  if (name.startsWith('..') || name.startsWith('node_modules')) return next(url, context);
  const compiled = `${cache}${name.slice(0, -2)}js`;
  const [ours, theirs] = await Promise.all([changedAt(compiled), changedAt(path)]);
  const source = ours < theirs ? await compile(path) : await readFile(compiled, 'utf8');
  return { format: 'module', source, shortCircuit: true };
}
