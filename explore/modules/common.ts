/**
 * The user's CommonJS files, which are run anew for each life of a client: require() has a cache of its own there. Each file is read and
 * compiled once.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import vm from 'node:vm';
import { kindOf, sourceOf } from './files.ts';

/** What a file is called with. */
type Body = (
  this: unknown,
  exports: unknown,
  require: NodeJS.Require,
  module: CommonModule,
  filename: string,
  folder: string,
) => void;

/** A file that was compiled, or the text of a JSON file. */
type ReadFile = { readonly body: Body } | { readonly json: string };

/** What code sees as `module`. */
interface CommonModule {
  exports: unknown;
  readonly id: string;
  readonly filename: string;
  readonly path: string;
  loaded: boolean;
  readonly children: CommonModule[];
  readonly parent: CommonModule | undefined;
  readonly paths: readonly string[];
  require: NodeJS.Require;
}

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];
/** Lets code call import() as it does in a file that Node loads. Node before 20.12 does not have it. */
const { USE_MAIN_CONTEXT_DEFAULT_LOADER: BY_NODE } = (vm.constants ?? {}) as unknown as {
  USE_MAIN_CONTEXT_DEFAULT_LOADER?: symbol;
};

/** The CommonJS files of an exploration. */
export class CommonFiles {
  /** An ES module of the user that a file required: Node has loaded it once. */
  sharedByRequire: string | undefined;
  readonly #isOwn: (path: string) => boolean;
  readonly #read = new Map<string, ReadFile>();
  /** Where each file's words lead. */
  readonly #found = new Map<string, Map<string, string>>();
  readonly #requires = new Map<string, NodeJS.Require>();

  /** @param isOwn says which files are loaded anew */
  constructor(isOwn: (path: string) => boolean) {
    this.#isOwn = isOwn;
  }

  /** Modules for one life. */
  modules(): CommonModules {
    return new CommonModules(this);
  }

  /** The file, read and compiled when it is first asked for. */
  read(path: string): ReadFile {
    let file = this.#read.get(path);
    if (file === undefined) {
      file = path.endsWith('.json')
        ? { json: readFileSync(path, 'utf8') }
        : { body: compiled(sourceOf(path), path) };
      this.#read.set(path, file);
    }
    return file;
  }

  /** Node's own require() for a file. */
  requireOf(path: string): NodeJS.Require {
    let found = this.#requires.get(path);
    if (found === undefined) this.#requires.set(path, (found = createRequire(path)));
    return found;
  }

  /** The file to run anew that a word leads to; undefined for what is loaded once. Throws what require.resolve throws. */
  ownFile(word: string, from: string): string | undefined {
    if (isBuiltin(word)) return undefined;
    let known = this.#found.get(from);
    if (known === undefined) this.#found.set(from, (known = new Map()));
    let path = known.get(word);
    if (path === undefined) known.set(word, (path = this.requireOf(from).resolve(word)));
    if (path.endsWith('.node') || !this.#isOwn(path)) return undefined;
    if (path.endsWith('.json') || kindOf(path) === 'common') return path;
    this.sharedByRequire ??= path;
    return undefined;
  }
}

/** The modules of one life. */
export class CommonModules {
  readonly #files: CommonFiles;
  readonly #modules = new Map<string, CommonModule>();

  constructor(files: CommonFiles) {
    this.#files = files;
  }

  /** What a file exports. It runs when it is first asked for. Throws what it throws. */
  exportsOf(path: string, parent?: CommonModule): unknown {
    const known = this.#modules.get(path);
    // Files that require each other see what is exported by then.
    if (known !== undefined) return known.exports;
    const module = this.#moduleOf(path, parent);
    this.#modules.set(path, module);
    parent?.children.push(module);
    try {
      const file = this.#files.read(path);
      if ('json' in file) module.exports = JSON.parse(file.json);
      else file.body.call(module.exports, module.exports, module.require, module, path, dirname(path));
    } catch (error) {
      this.#modules.delete(path);
      throw error;
    }
    module.loaded = true;
    return module.exports;
  }

  #moduleOf(path: string, parent: CommonModule | undefined): CommonModule {
    const byNode = this.#files.requireOf(path);
    const module: CommonModule = {
      ...{ exports: {}, id: path, filename: path, path: dirname(path), loaded: false, children: [], parent },
      ...{ paths: byNode.resolve.paths('x') ?? [], require: byNode },
    };
    const require = (word: string): unknown => {
      const own = this.#files.ownFile(word, path);
      return own === undefined ? byNode(word) : this.exportsOf(own, module);
    };
    const { resolve, cache, main, extensions } = byNode;
    module.require = Object.assign(require, { resolve, cache, main, extensions }) as NodeJS.Require;
    return module;
  }
}

/** What import() shows of a CommonJS file. */
export function namespaceOf(exported: unknown): Readonly<Record<string, unknown>> {
  const isObject = (typeof exported === 'object' && exported !== null) || typeof exported === 'function';
  return { ...(isObject ? exported : {}), default: exported };
}

function compiled(source: string, path: string): Body {
  const options = { filename: path, ...(BY_NODE !== undefined && { importModuleDynamically: BY_NODE }) };
  return vm.compileFunction(
    source.replace(/^#!.*/, ''),
    PARAMETERS,
    options as unknown as vm.CompileFunctionOptions,
  ) as Body;
}
