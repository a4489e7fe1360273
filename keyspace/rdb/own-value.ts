/** The form of the values of users' commands in RDB: a value of a module whose name no real module has. */
import { OwnValue } from '../collections/own-value.ts';
import type { RdbReader } from '../format/reader.ts';
import type { RdbWriter } from '../format/writer.ts';
import { ModuleReader, type ModuleType, ModuleWriter } from './modules.ts';

/** A real server that is given one says that it does not know this module. */
export const OWN_VALUE: ModuleType = { name: 'lostlock-', version: 1 };

/** Writes the type's word and the value's bytes. */
export function writeOwnValue(target: RdbWriter, { word, data }: OwnValue): void {
  const out = new ModuleWriter(target, OWN_VALUE);
  out.string(word);
  out.string(data);
  out.end();
}

/** Reads what follows the number of the module. Throws RdbError for parts of another kind. */
export function readOwnValue(source: RdbReader): OwnValue {
  const input = new ModuleReader(source);
  const word = input.string();
  const data = input.string();
  input.end();
  return new OwnValue(word, data);
}
