/**
 * Puts the chunks that esbuild writes into a few files, by what loads them. A chunk is a function there, a part, which runs when
 * it is first asked for (docs/decisions/0077-a-light-package.md).
 */
import { basename, posix } from 'node:path';
import type { Metafile } from 'esbuild';

type Outputs = Metafile['outputs'];

/** The files of dist/chunks/, and which sources' outputs they serve. A chunk goes into the first file that fits. */
const FILES: readonly (readonly [name: string, serves: RegExp])[] = [
  ['options', /^locks\/index\.ts$/],
  // Apart, because kept code cannot import (start/running/kept-code.ts).
  ['import', /\/import-module\.ts$/],
  ['base', /^(index|start\/running\/kept-code|lab\/router)\.ts$/],
  ['server', /^(start\/(start|thread\/(threaded-server|worker))|lab\/start)\.ts$/],
  // What `npx lostlock` needs when it starts a server. Each file that it reads takes a millisecond or more.
  ['serve', /^(cli\/(serve|command-line)|adapters\/(?!ioredis).*)\.ts$/],
  ['runners', /^(runners\/|dependency:ioredis$)/],
  ['lab', /^lab\/(pair|cluster)\.ts$/],
  ['explore', /^(explore\/index|explore\/programs\/explore|cli\/explore\/programs)\.ts$/],
  ['cli', /./],
];

/** Those that are so large that the code V8 compiles of them is kept (start/running/kept-code.ts). */
const LARGE: readonly string[] = ['server', 'runners', 'lab', 'explore', 'serve', 'cli'];

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
    for (const start of starts.filter((path) => serves.test(outputs[path]!.entryPoint!)))
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

/** The files that a module loads parts from: for each, its folder as the module sees it. */
export type Loads = Map<string, string>;

/**
 * Replaces what a CommonJS module requires of chunks by the parts in their files. `loadersOf` writes the functions that load the files.
 * @param own the file that the module goes into
 * @param loads gets the files that the module loads
 */
export function withParts(
  code: string,
  files: ReadonlyMap<string, string>,
  loads: Loads,
  own?: string,
): string {
  const byName = new Map([...files].map(([path, file]) => [partOf(path), file]));
  return code.replace(
    /\brequire\("(\.{1,2}\/(?:[\w-]+\/|\.\.\/)*)([\w-]+)\.cjs"\)/g,
    (whole, folder: string, name: string) => {
      const part = partOf(name);
      const file = byName.get(part);
      if (file === undefined) return whole;
      if (file === own) return `__parts.${part}()`;
      loads.set(file, folder);
      return `__${file}().${part}()`;
    },
  );
}

/**
 * Functions that load files of parts, each once: Node looks a file up anew each time when it was first required from another folder, which
 * takes 0.1 ms. A bundler finds the names of the files.
 */
export function loadersOf(loads: Loads): string {
  const loaders = [...loads].map(([file, folder]) => {
    const load = `require("${folder}${file}.cjs")`;
    const loaded = LARGE.includes(file)
      ? `require("${keptCode(folder)}").loadKept("${file}.cjs", () => ${load})`
      : load;
    return `let __${file}$; const __${file} = () => (__${file}$ ??= ${loaded});\n`;
  });
  return loaders.join('');
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

/** A file of dist/chunks/. The code of each part is a CommonJS module that uses `exports` and the functions of `loadersOf` alone. */
export function partsFile(head: string, codes: ReadonlyMap<string, string>, loads: Loads): string {
  // V8 compiles a function at once if it is in brackets of its own. Otherwise it would read the code twice.
  const parts = [...codes].map(
    ([path, code]) => `exports.${partOf(path)} = __part((function (exports) {${code}\n}));`,
  );
  const used = parts.some((part) => part.includes('__nodeRequire')) ? [head] : [];
  return `${[HEAD, ...used, loadersOf(loads).trimEnd(), ...parts].join('\n')}\n`;
}
