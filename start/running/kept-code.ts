/**
 * Keeps the code that V8 compiles of the package's files for the next process. V8 takes more than half of the time of a process' first
 * server to compile them (docs/decisions/0085-kept-code.md).
 */
import { isAscii } from 'node:buffer';
import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { LOSTLOCK_VERSION } from '../../base/version.ts';
import { isNode } from './runtime.ts';

/** The file of dist/chunks/ with import-module.ts. */
const IMPORTING = 'import.cjs';

/** How often a file of the package is kept: for each project, version of Node and flags of V8 once. Together they take some 40 MB. */
const MOST_KEPT = 8;

/** What stands around the code of a CommonJS module. */
const HEAD = Buffer.from('(function (exports, require, module, __filename, __dirname) { ');
const TAIL = Buffer.from('\n});');

type CommonJs = NodeJS.Module & { require: NodeJS.Require };
type Extensions = NodeJS.RequireExtensions;

/** Writes what V8 has compiled of each file that was not kept. */
const compiled: (() => void)[] = [];

/** Files that are loaded already. */
const loaded = new Set<string>();

/**
 * Loads a CommonJS file of the package, and what it loads in its folder and below, now and later. What V8 compiles of them is read from a
 * folder for temporary files, and written there when the process ends. The variables of Node's own cache apply: a folder
 * in `NODE_COMPILE_CACHE`, and `NODE_DISABLE_COMPILE_CACHE=1`. Without a folder that is safe, it only loads the file.
 */
export function requireKept(file: string): void {
  const require = process.getBuiltinModule('node:module').createRequire(file);
  const folder = safeFolder();
  if (folder !== undefined) {
    const own = dirname(file) + sep;
    hook(require.extensions, folder, (path) => path.startsWith(own) && basename(path) !== IMPORTING);
    // At the end, the functions that ran are compiled as well.
    process.once('exit', keepCompiled);
  }
  require(file);
}

/**
 * Loads a file of dist/chunks/ with `load`, which requires it, and uses kept code as `requireKept` does. Does nothing else where another
 * loader than Node's reads the file: in a bundle, in Jest, on Bun and Deno. `keepCompiled` writes what was compiled.
 * @param name the file's name
 */
export function loadKept<M>(name: string, load: () => M): M {
  if (loaded.has(name)) return load();
  loaded.add(name);
  const file = join(import.meta.dirname, name);
  const extensions = extensionsOf(file);
  if (extensions === undefined) return load();
  const folder = safeFolder();
  if (folder === undefined) return load();
  hook(extensions, folder, (path) => path === file);
  try {
    return load();
  } finally {
    delete extensions['.cjs'];
  }
}

/** True when V8 has compiled what `keepCompiled` would write. */
export const hasCompiled = (): boolean => compiled.length > 0;

/** Writes what V8 has compiled up to now, also of functions that have run since. Returns at once when there is nothing to write. */
export function keepCompiled(): void {
  for (const write of compiled.splice(0)) write();
}

/**
 * The loaders of Node's require(); undefined where a file is not loaded by them into the realm of the process, and where another loader
 * is installed, which then reads the file: someone else's, or that of `requireKept`.
 */
function extensionsOf(file: string): Extensions | undefined {
  if (!isNode || file === basename(file)) return undefined;
  try {
    const { extensions } = process.getBuiltinModule('node:module').createRequire(file);
    if (extensions['.cjs'] !== undefined) return undefined;
    // In a test, Jest runs our code in another realm. What it compiles there has that realm's globals.
    if (process.getBuiltinModule('node:vm').runInThisContext('globalThis') !== globalThis) return undefined;
    return extensions;
  } catch {
    return undefined;
  }
}

/** Makes require() load files with kept code. @param isOurs says which */
function hook(extensions: Extensions, folder: string, isOurs: (path: string) => boolean): void {
  const plain = extensions['.js']!;
  extensions['.cjs'] = (module, path) => {
    if (isOurs(path)) run(module as CommonJs, path, folder);
    else plain(module, path);
  };
}

/** Runs a CommonJS file as Node does, but without import(). */
function run(module: CommonJs, path: string, folder: string): void {
  const { Script } = process.getBuiltinModule('node:vm');
  const source = wrapped(path);
  // V8 rejects the code of another version of V8, and of a process with other flags.
  const tag = process.getBuiltinModule('node:v8').cachedDataVersionTag().toString(36);
  // Kept code has the path of its file, which stack traces show. Two projects may have the same version of the package.
  const kept = join(
    folder,
    `${basename(path)}-${hashOf(path)}-${LOSTLOCK_VERSION}-${tag}-${process.version}`,
  );
  const cachedData = read(kept, source);
  // Our files are ASCII. Node then puts a long text outside of V8's heap. Inside, a text of a megabyte makes V8 collect garbage.
  const script = new Script(source.toString(isAscii(source) ? 'latin1' : 'utf8'), {
    filename: path,
    ...(cachedData !== undefined && { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true)
    compiled.push(() => write(kept, Buffer.concat([script.createCachedData(), source])));
  const body = script.runInThisContext() as (...parts: unknown[]) => void;
  body.call(module.exports, module.exports, (id: string) => module.require(id), module, path, dirname(path));
}

/** FNV-1a, in 32 bits: node:crypto would take longer to load. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** A CommonJS file as a function. It is read into its place, because to copy a megabyte takes almost another millisecond. */
function wrapped(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.allocUnsafeSlow(HEAD.length + size + TAIL.length);
    HEAD.copy(bytes);
    for (let at = 0; at < size; ) {
      const read = readSync(file, bytes, HEAD.length + at, size - at, at);
      if (read === 0) throw new Error(`${path} has become shorter while it was read`);
      at += read;
    }
    TAIL.copy(bytes, HEAD.length + size);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/**
 * A folder that only this user writes to, because its code runs in this process; undefined if there is none, and when kept code is
 * turned off.
 */
function safeFolder(): string | undefined {
  if (process.env.NODE_DISABLE_COMPILE_CACHE === '1') return undefined;
  const user = process.getuid?.();
  try {
    const folder = process.env.NODE_COMPILE_CACHE || join(tmpdir(), `lostlock-code-${user ?? 'user'}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return user === undefined || (uid === user && (mode & 0o022) === 0) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The code that was kept of this source. A kept file ends with its source, because V8 itself compares only the length; a hash would need
 * node:crypto, which takes longer to load than this to compare.
 */
function read(kept: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(kept);
    const length = bytes.length - source.length;
    return length > 0 && bytes.subarray(length).equals(source) ? bytes.subarray(0, length) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file as a whole, because other processes may start at the same time. Removes what was kept longest ago. */
function write(kept: string, bytes: Buffer): void {
  const unfinished = `${kept}.${process.pid}`;
  try {
    writeFileSync(unfinished, bytes, { mode: 0o600 });
    renameSync(unfinished, kept);
    removeOldest(dirname(kept), basename(kept).slice(0, basename(kept).indexOf('-') + 1));
  } catch {
    // The next process compiles again.
  }
}

/** Removes the oldest kept files that begin with a name, until few enough are left. */
function removeOldest(folder: string, name: string): void {
  const all = readdirSync(folder).filter((each) => each.startsWith(name));
  if (all.length <= MOST_KEPT) return;
  const times = new Map(all.map((each) => [each, statSync(join(folder, each)).mtimeMs]));
  all.sort((a, b) => times.get(a)! - times.get(b)!);
  for (const each of all.slice(0, -MOST_KEPT)) unlinkSync(join(folder, each));
}
