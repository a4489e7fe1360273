/** Reads and prints the letters of notify-keyspace-events. */
import type { Bytes } from '../../protocol/bytes.ts';

/** The classes that the letter A stands for: all except misses and new keys. */
const ALL = 'g$lshzxetd';
const ORDER = `${ALL}KEmnSTIV`;
/** The classes of Redis 8.2: overwritten keys, and keys whose type changed. */
const LATER = 'oc';

/**
 * Reads the setting's letters. Returns undefined if one is unknown.
 * @param more letters that the server knows besides those of Redis 7.0
 */
export function parseEventClasses(text: Bytes, more = LATER): Set<string> | undefined {
  const classes = new Set<string>();
  for (const letter of text) {
    if (letter === 'A') for (const each of ALL) classes.add(each);
    else if ((ORDER + more).includes(letter)) classes.add(letter);
    else return undefined;
  }
  return classes;
}

/** Prints classes as CONFIG GET does: behind A, the classes that it does not stand for are left out. */
export function printEventClasses(text: Bytes): Bytes {
  const classes = parseEventClasses(text) ?? new Set();
  const all = [...ALL].every((letter) => classes.has(letter));
  let out = all ? 'A' : [...ALL, 'n', ...LATER].filter((letter) => classes.has(letter)).join('');
  for (const letter of 'KEmSTIV') if (classes.has(letter)) out += letter;
  return out;
}

/** True for classes that name the fields of hashes, which Redis has since 8.8. */
export function namesFields(classes: Bytes): boolean {
  return /[STIV]/.test(classes);
}
