/**
 * Loads the code of a client anew for each of its lives, with modules of its own: a client is a process, and what a module keeps is no
 * other client's. The files of the user are loaded so, and the packages that the user lists; other modules are loaded once.
 */
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { isNode, runtimeName } from '../../start/running/runtime.ts';
import { CommonFiles, type CommonModules, namespaceOf } from './common.ts';
import { kindOf, SharedModules, sourceOf, withoutWarning } from './files.ts';

/** A file whose modules can be loaded anew. */
export interface FreshFile {
  /** What the file exports, from fresh modules. It does no input or output. */
  load(): Promise<Readonly<Record<string, unknown>>>;
}

/** Parts of Node that its types for version 20 lack, or that need a flag. */
interface VmModules {
  readonly SourceTextModule?: new (source: string, options: object) => Linked;
  readonly SyntheticModule?: new (
    names: readonly string[],
    evaluate: (this: Synthetic) => void,
    options: object,
  ) => Linked;
}
interface Linked {
  readonly identifier: string;
  readonly namespace: Record<string, unknown>;
  readonly dependencySpecifiers?: readonly string[];
  readonly moduleRequests?: readonly { readonly specifier: string }[];
  createCachedData(): Buffer;
  link(linker: (specifier: string, from: Linked) => Linked | Promise<Linked>): Promise<void>;
  evaluate(): Promise<void>;
}
interface Synthetic {
  setExport(name: string, value: unknown): void;
}

const { SourceTextModule, SyntheticModule } = vm as unknown as VmModules;

/** True in a process that can load ES modules anew. */
export const loadsAnew = (): boolean => isNode && SourceTextModule !== undefined;

/** An ES module of the user, read once. */
interface OwnFile {
  readonly url: string;
  readonly source: string;
  readonly cachedData: Buffer;
  /** What it imports, by the words with which it does. */
  readonly imports: ReadonlyMap<string, OwnFile | CommonImport | Linked>;
}

/** A CommonJS file of the user that an ES module imports, with the names that it exports. */
interface CommonImport {
  readonly common: string;
  readonly names: readonly string[];
}

/**
 * Reads a file and everything that belongs to the user among what it imports. Rejects with `SharedModules`, which says why,
 * when they cannot be loaded anew.
 * @param listed packages that are loaded anew as well
 */
export async function freshFile(path: string, listed: readonly string[] = []): Promise<FreshFile> {
  // Deno has the class, but not all of it.
  if (!isNode) throw new SharedModules(`${runtimeName} cannot load them anew`);
  const reader = new OwnFiles(listed);
  // Once, and outside of every world: the packages that it imports are loaded then.
  if (kindOf(path) === 'common') {
    reader.common.modules().exportsOf(path);
    checkRequired(reader.common);
    return { load: async () => namespaceOf(reader.common.modules().exportsOf(path)) };
  }
  const entry = await reader.read(pathToFileURL(path).href);
  checkRequired(reader.common);
  return { load: () => loadAnew(entry, reader.common.modules()) };
}

function checkRequired({ sharedByRequire }: CommonFiles): void {
  if (sharedByRequire !== undefined)
    throw new SharedModules(`require() loads ${sharedByRequire}, which is an ES module`);
}

/** Reads the user's files. */
class OwnFiles {
  readonly common: CommonFiles;
  readonly #listed: readonly string[];
  readonly #files = new Map<string, Promise<OwnFile>>();
  readonly #others = new Map<string, Promise<Linked>>();
  readonly #commonImports = new Map<string, CommonImport>();

  constructor(listed: readonly string[]) {
    this.#listed = listed;
    this.common = new CommonFiles((path) => this.#isOwn(path));
  }

  read(url: string): Promise<OwnFile> {
    if (SourceTextModule === undefined)
      throw new SharedModules('Node was started without --experimental-vm-modules');
    let file = this.#files.get(url);
    if (file === undefined) this.#files.set(url, (file = this.#readNow(url)));
    return file;
  }

  async #readNow(url: string): Promise<OwnFile> {
    const path = fileURLToPath(url);
    const source = sourceOf(path);
    const probe = compiled(source, url);
    const words = probe.dependencySpecifiers ?? probe.moduleRequests?.map(({ specifier }) => specifier) ?? [];
    const imports = new Map<string, OwnFile | CommonImport | Linked>();
    const file = { url, source, cachedData: probe.createCachedData(), imports };
    // Known before its imports are, because imports may form a circle.
    this.#files.set(url, Promise.resolve(file));
    for (const word of words) imports.set(word, await this.#imported(word, path));
    return file;
  }

  #imported(word: string, from: string): Promise<OwnFile | Linked> | CommonImport {
    const target = resolved(word, from);
    const path = target.startsWith('file:') ? fileURLToPath(target) : undefined;
    if (path !== undefined && !/\.(?:json|node|wasm)$/.test(path) && this.#isOwn(path))
      return kindOf(path) === 'esm' ? this.read(target) : this.#commonImport(path);
    let other = this.#others.get(target);
    if (other === undefined) this.#others.set(target, (other = otherModule(target)));
    return other;
  }

  #commonImport(path: string): CommonImport {
    let found = this.#commonImports.get(path);
    if (found === undefined) {
      const names = Object.keys(namespaceOf(this.common.modules().exportsOf(path)));
      this.#commonImports.set(path, (found = { common: path, names }));
    }
    return found;
  }

  #isOwn(path: string): boolean {
    const place = path.replaceAll('\\', '/').split('/node_modules/');
    return place.length === 1 || this.#listed.some((name) => place.at(-1)?.startsWith(`${name}/`));
  }
}

/** Where an import leads: a URL, or the name of a module of Node. */
function resolved(word: string, from: string): string {
  if (isBuiltin(word)) return word.startsWith('node:') ? word : `node:${word}`;
  if (/^(\.{1,2}\/|\/|file:)/.test(word)) return new URL(word, pathToFileURL(from)).href;
  try {
    return pathToFileURL(createRequire(from).resolve(word)).href;
  } catch {
    // Packages without a form for require() are found from here, beside lostlock.
    return word;
  }
}

/** A module that is loaded once, for all clients and worlds. */
async function otherModule(target: string): Promise<Linked> {
  const { importModule } = await import('../../start/running/import-module.ts');
  const exported = (await importModule(target).catch((error: unknown) => {
    throw new SharedModules(`${target} cannot be loaded: ${(error as Error).message}`);
  })) as Record<string, unknown>;
  const names = Object.keys(exported);
  const Synthetic = SyntheticModule as NonNullable<typeof SyntheticModule>;
  const made = new Synthetic(
    names,
    function () {
      for (const name of names) this.setExport(name, exported[name]);
    },
    { identifier: target },
  );
  await made.link(() => made);
  await made.evaluate();
  return made;
}

function compiled(source: string, url: string, cachedData?: Buffer): Linked {
  const Text = SourceTextModule as NonNullable<typeof SourceTextModule>;
  const initializeImportMeta = (meta: Record<string, unknown>): void => {
    Object.assign(meta, { url, filename: fileURLToPath(url), dirname: dirname(fileURLToPath(url)) });
  };
  const importModuleDynamically = async (word: string): Promise<unknown> => {
    const { importModule } = await import('../../start/running/import-module.ts');
    return await importModule(resolved(word, fileURLToPath(url)));
  };
  const options = { identifier: url, initializeImportMeta, importModuleDynamically };
  return withoutWarning(() => {
    try {
      return new Text(source, cachedData === undefined ? options : { ...options, cachedData });
    } catch (error) {
      // V8 rejects it when a flag was set since then.
      if (cachedData === undefined) throw error;
      return new Text(source, options);
    }
  });
}

/** Makes new modules of all files, and runs them. */
async function loadAnew(entry: OwnFile, common: CommonModules): Promise<Readonly<Record<string, unknown>>> {
  const made = new Map<OwnFile | CommonImport, Linked>();
  const files = new Map<Linked, OwnFile>();
  const moduleOf = (file: OwnFile | CommonImport): Linked => {
    let known = made.get(file);
    if (known === undefined) {
      known = 'common' in file ? wrapped(file, common) : compiled(file.source, file.url, file.cachedData);
      made.set(file, known);
      if ('source' in file) files.set(known, file);
    }
    return known;
  };
  const first = moduleOf(entry);
  await first.link((word, from) => {
    const target = files.get(from)?.imports.get(word) as OwnFile | CommonImport | Linked;
    return 'source' in target || 'common' in target ? moduleOf(target) : target;
  });
  await first.evaluate();
  return first.namespace;
}

/** A CommonJS file as an ES module sees it. */
function wrapped({ common: path, names }: CommonImport, common: CommonModules): Linked {
  const Synthetic = SyntheticModule as NonNullable<typeof SyntheticModule>;
  return new Synthetic(
    names,
    function () {
      const exported = namespaceOf(common.exportsOf(path));
      for (const name of names) this.setExport(name, exported[name]);
    },
    { identifier: path },
  );
}
