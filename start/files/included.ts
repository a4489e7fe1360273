/** The files that an `include` line of redis.conf names. Its path may have wildcards. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A name with a wildcard. */
const WILD = /[*?[]/;

/** A path with wildcards as the pattern of one name, as glob(7) describes it. */
function patternOf(name: string): RegExp {
  const source = name.replace(
    /\\(.)|\*|\?|\[([!^]?)(\]?[^\]]*)\]|([^\w])/gsu,
    (part, escaped: string | undefined, not: string | undefined, set: string | undefined) => {
      if (escaped !== undefined) return escaped.replace(/\W/u, '\\$&');
      if (part === '*') return '.*';
      if (part === '?') return '.';
      if (set === undefined) return `\\${part}`;
      return `[${not === '' ? '' : '^'}${set.replace(/[\\[\]^]/g, '\\$&')}]`;
    },
  );
  return new RegExp(`^${source}$`, 'su');
}

/** The names in a folder that fit. Names with a dot in front fit only what has one too. */
function fitting(folder: string, name: string): string[] {
  const pattern = patternOf(name);
  try {
    return readdirSync(folder === '' ? '.' : folder)
      .filter((each) => pattern.test(each) && (!each.startsWith('.') || name.startsWith('.')))
      .sort();
  } catch {
    // glob() leaves out what it cannot read.
    return [];
  }
}

/**
 * The files that the path names, in order of their names: those that fit the wildcards, perhaps none, or the path itself.
 * @param path an absolute path
 */
export function includedFiles(path: string): string[] {
  if (!WILD.test(path)) return [path];
  let found = ['/'];
  for (const part of path.split('/').filter((each) => each !== '')) {
    found = WILD.test(part)
      ? found.flatMap((folder) => fitting(folder, part).map((name) => join(folder, name)))
      : found.map((folder) => join(folder, part));
  }
  return found.filter((each) => statSync(each, { throwIfNoEntry: false }) !== undefined);
}
