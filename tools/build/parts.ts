/**
 * Puts the chunks that esbuild writes into a few files, by what loads them. A chunk is a function there, a part, which runs when
 * it is first asked for (docs/decisions/0077-a-light-package.md).
 */
import { basename, posix } from 'node:path';
import type { Metafile } from 'esbuild';

type Outputs = Metafile['outputs'];

/** The files of dist/chunks/, and which outputs of esbuild they serve. A chunk goes into the first file that fits. */
const FILES: readonly (readonly [name: string, serves: RegExp])[] = [
  ['options', /^locks\/index$/],
  // Apart, because kept code cannot import (start/running/kept-code.ts).
  ['import', /^chunks\/import-module-\w+$/],
  ['base', /^(index|kept|lab\/router)$/],
  ['server', /^(chunks\/(start|threaded-server)-\w+|start\/thread\/worker)$/],
  ['adapters', /^adapters\/(?!ioredis)/],
  ['runners', /^runners\//],
  ['lab', /^chunks\/(pair|cluster|ioredis)-\w+$/],
  ['explore', /^(explore\/index|chunks\/(explore|programs)-\w+)$/],
  // What `npx lostlock` needs when it starts a server.
  ['serve', /^chunks\/(serve|command-line)-\w+$/],
  ['cli', /./],
];

/** Those that are so large that the code V8 compiles of them is kept (start/running/kept-code.ts). */
const LARGE: readonly string[] = ['server', 'runners', 'lab', 'explore', 'serve', 'cli'];

/** `index` for `.dist/index.js`. */
const nameOf = (path: string): string => path.replace(/^\.?dist\/(.*)\.js$/, '$1');

/** What an output loads when it is loaded, with itself. */
function loadedWith(outputs: Outputs, start: string): Set<string> {
  const found = new Set([start]);
  for (const path of found)
    for (const { path: next, kind, external } of outputs[path]?.imports ?? [])
      if (external !== true && kind === 'import-statement') found.add(next);
  return found;
}

/** For each chunk, the file that it goes into. */
export function filesOfChunks(outputs: Outputs): Map<string, string> {
  const files = new Map<string, string>();
  const starts = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint !== undefined);
  for (const [file, serves] of FILES)
    for (const start of starts.filter((path) => serves.test(nameOf(path))))
      for (const path of loadedWith(outputs, start))
        if (path.includes('/chunks/') && !files.has(path)) files.set(path, file);
  return files;
}

/** The names of parts, by the chunks' names. They stand in the code a thousand times, so they are short. */
const partNames = new Map<string, string>();

/** The name of the part that a chunk becomes. */
function partOf(path: string): string {
  const chunk = basename(path).replace(/\.c?js$/, '');
  let part = partNames.get(chunk);
  if (part === undefined) partNames.set(chunk, (part = `p${partNames.size}`));
  return part;
}

/** Replaces what a CommonJS module requires of chunks by the parts in their files. @param own the file that the module goes into */
export function withParts(code: string, files: ReadonlyMap<string, string>, own?: string): string {
  const byName = new Map([...files].map(([path, file]) => [partOf(path), file]));
  const large = new Map<string, string>();
  const parts = code.replace(
    /\brequire\("(\.{1,2}\/(?:[\w-]+\/|\.\.\/)*)([\w-]+)\.cjs"\)/g,
    (whole, folder: string, name: string) => {
      const part = partOf(name);
      const file = byName.get(part);
      if (file === undefined) return whole;
      if (file === own) return `__parts.${part}()`;
      if (!LARGE.includes(file)) return `require("${folder}${file}.cjs").${part}()`;
      large.set(file, folder);
      return `__${file}().${part}()`;
    },
  );
  // A bundler finds the name of the file.
  const loading = [...large].map(
    ([file, folder]) =>
      `const __${file} = () => require("${keptCode(folder)}").loadKept("${file}.cjs", () => require("${folder}${file}.cjs"));\n`,
  );
  return loading.join('') + parts;
}

/** Where the file is that loads large files, seen from a file that sees dist/chunks/ in this folder. */
function keptCode(folder: string): string {
  const path = posix.join(folder, '..', 'kept.cjs');
  return path.startsWith('.') ? path : `./${path}`;
}

/**
 * The beginning of a file of parts. A part runs once, when something first asks for it. A part that throws, because a package is missing,
 * runs again when it is asked for again: it would otherwise be half made.
 */
const HEAD = `"use strict";
const __parts = exports;
const __part = (run) => {
  let made;
  return () => {
    if (made !== undefined) return made;
    try {
      run((made = {}));
    } catch (error) {
      made = undefined;
      throw error;
    }
    return made;
  };
};`;

/** A file of dist/chunks/. The code of each part is a CommonJS module that uses `exports` alone. */
export function partsFile(head: string, codes: ReadonlyMap<string, string>): string {
  // V8 compiles a function at once if it is in brackets of its own. Otherwise it would read the code twice.
  const parts = [...codes].map(
    ([path, code]) => `exports.${partOf(path)} = __part((function (exports) {${code}\n}));`,
  );
  const used = parts.some((part) => part.includes('__nodeRequire')) ? [head] : [];
  return `${[HEAD, ...used, ...parts].join('\n')}\n`;
}
