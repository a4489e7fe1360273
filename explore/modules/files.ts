/** The files of a user's modules: which kind of module each is, and its text as JavaScript. */
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname } from 'node:path';
import vm from 'node:vm';

/** Why modules cannot be loaded anew. */
export class SharedModules extends Error {}

/** What Node takes a file for: an ES module, or a CommonJS one. */
type ModuleKind = 'esm' | 'common';

const kinds = new Map<string, ModuleKind>();

/** What Node takes this file for. Without `type` in its package.json, its syntax decides. */
export function kindOf(path: string): ModuleKind {
  let kind = kinds.get(path);
  if (kind === undefined) kinds.set(path, (kind = kindByName(path) ?? kindBySyntax(path)));
  return kind;
}

/** The kind, as far as the name and the package say it. */
function kindByName(path: string): ModuleKind | undefined {
  if (/\.m[jt]s$/.test(path)) return 'esm';
  if (/\.c[jt]s$/.test(path)) return 'common';
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = `${folder}/package.json`;
    if (existsSync(manifest)) {
      const { type } = JSON.parse(readFileSync(manifest, 'utf8')) as { type?: string };
      return type === 'module' ? 'esm' : type === 'commonjs' ? 'common' : undefined;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** What a compiler says of an ES module that it takes for a function's body. */
const OF_ESM = /import statement outside a module|'export'|'import\.meta'|await is only valid/;

function kindBySyntax(path: string): ModuleKind {
  try {
    vm.compileFunction(sourceOf(path), ['exports', 'require', 'module', '__filename', '__dirname']);
  } catch (error) {
    if (error instanceof SyntaxError && OF_ESM.test(error.message)) return 'esm';
  }
  return 'common';
}

/** The text of a file as JavaScript. Throws SharedModules for TypeScript where Node cannot strip types. */
export function sourceOf(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (!/ts$/.test(path)) return text;
  const { stripTypeScriptTypes } = nodeModule as { stripTypeScriptTypes?: (text: string) => string };
  if (stripTypeScriptTypes === undefined)
    throw new SharedModules(`Node ${process.version} cannot strip the types of ${path}`);
  return withoutWarning(() => stripTypeScriptTypes(text));
}

/** Node warns once of what is experimental. The flag says that this process wants it. */
export function withoutWarning<T>(task: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return task();
  } finally {
    process.emitWarning = emitWarning;
  }
}
