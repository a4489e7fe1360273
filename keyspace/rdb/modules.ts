/** Names the module that wrote a value. Values of modules cannot be read here. */
import { type Bytes, narrow } from '../../protocol/bytes.ts';
import type { RdbReader } from '../format/reader.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** A module's type has a name of nine letters, of six bits each, above ten bits of version. */
const NAME_LENGTH = 9n;
const LETTER_BITS = 6n;
const VERSION_BITS = 10n;

/**
 * Reads the number of a module's type and returns its name
 * (https://redis.io/docs/latest/develop/reference/modules/modules-native-types/).
 */
export function moduleOf(input: RdbReader): Bytes {
  const id = BigInt(input.size());
  let name = '';
  for (let i = NAME_LENGTH - 1n; i >= 0n; i--) {
    const letter = narrow((id >> (VERSION_BITS + i * LETTER_BITS)) & 63n);
    name += LETTERS[letter as number];
  }
  return name;
}
