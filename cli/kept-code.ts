/**
 * Keeps the code that V8 compiles of the package's files for the next start. Node can do so from version 22.1 on, but its starts
 * take a quarter longer (docs/decisions/0030-what-starting-loads.md).
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { Script } from 'node:vm';

/** What a kept file begins with: the hash of the source. V8 itself compares only the source's length. */
const HASH = 'sha256';
const HASH_BYTES = 32;

type CommonJs = NodeJS.Module & { require: NodeJS.Require };

/**
 * Loads a CommonJS file of the package. What V8 compiles of it and of the files in its folder and below is read from a
 * folder for temporary files, and written there when the process ends. The variables of Node's own cache apply: a folder
 * in `NODE_COMPILE_CACHE`, and `NODE_DISABLE_COMPILE_CACHE=1`. Without a folder that is safe, it only loads the file.
 */
export function requireKept(file: string): void {
  const require = module.createRequire(file);
  const folder = process.env.NODE_DISABLE_COMPILE_CACHE === '1' ? undefined : safeFolder();
  if (folder !== undefined) {
    const plain = require.extensions['.js']!;
    const own = dirname(file) + sep;
    /** Writes the code of a file that was compiled. */
    const compiled: (() => void)[] = [];
    require.extensions['.cjs'] = (loaded, path) => {
      if (!path.startsWith(own)) plain(loaded, path);
      else load(loaded as CommonJs, path, folder, (keep) => compiled.push(keep));
    };
    // At the end, the functions that ran are compiled as well.
    process.once('exit', () => {
      for (const keep of compiled) keep();
    });
  }
  require(file);
}

/** Runs a CommonJS file as Node does, but without import(). @param atEnd takes what keeps its code, if V8 has compiled it */
function load(loaded: CommonJs, path: string, folder: string, atEnd: (keep: () => void) => void): void {
  const source = readFileSync(path);
  const hash = createHash(HASH).update(source).digest();
  const kept = join(folder, `${basename(path)}-${process.version}`);
  const cachedData = read(kept, hash);
  const script = new Script(module.wrap(source.toString()), {
    filename: path,
    ...(cachedData !== undefined && { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true)
    atEnd(() => write(kept, Buffer.concat([hash, script.createCachedData()])));
  const run = script.runInThisContext() as (...parts: unknown[]) => void;
  run.call(loaded.exports, loaded.exports, (id: string) => loaded.require(id), loaded, path, dirname(path));
}

/** A folder that only this user writes to; undefined if there is none, because its code runs in this process. */
function safeFolder(): string | undefined {
  const user = process.getuid?.();
  const folder = process.env.NODE_COMPILE_CACHE || join(tmpdir(), `lostlock-code-${user ?? 'user'}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return user === undefined || (uid === user && (mode & 0o022) === 0) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** What was kept of the source with this hash. */
function read(kept: string, hash: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(kept);
    return hash.equals(bytes.subarray(0, HASH_BYTES)) ? bytes.subarray(HASH_BYTES) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file as a whole, because other processes may start at the same time. */
function write(kept: string, bytes: Buffer): void {
  const unfinished = `${kept}.${process.pid}`;
  try {
    writeFileSync(unfinished, bytes, { mode: 0o600 });
    renameSync(unfinished, kept);
  } catch {
    // The next start compiles again.
  }
}
