/** The values of users' types: how they become bytes, and come back. */
import { inspect } from 'node:util';
import { OwnValue } from '../../keyspace/collections/own-value.ts';
import { type Bytes, fromText, toBuffer } from '../../protocol/bytes.ts';
import { encodeText, isText } from '../text.ts';
import type { OwnCommand, OwnType } from './own-command.ts';

/** The type of a command: the one that it names, or the part of its name before the first dot. */
export function typeOfCommand(name: string, { type }: OwnCommand): OwnType {
  if (type === undefined) return { name: name.split('.', 1)[0] as string };
  return typeof type === 'string' ? { name: type } : type;
}

/** Encodes a value. Throws TypeError for a value that the type cannot encode. */
export function encodeValue(type: OwnType, value: unknown): OwnValue {
  const word = fromText(type.name);
  if (type.encode === undefined) return new OwnValue(word, fromText(jsonOf(type, value)));
  const data: unknown = type.encode(value);
  if (typeof data === 'number' || !isText(data)) {
    throw new TypeError(
      `encode of the type ${type.name} returned ${inspect(data, { depth: 0 })}, not text or bytes`,
    );
  }
  return new OwnValue(word, encodeText(data));
}

/** Returns a value from its bytes. Throws what the type's `decode` throws. */
export function decodeValue({ decode }: OwnType, data: Bytes): unknown {
  const bytes = toBuffer(data);
  return decode === undefined ? JSON.parse(bytes.toString()) : decode(bytes);
}

function jsonOf(type: OwnType, value: unknown): string {
  const wrong = strange(value, '');
  if (wrong !== undefined) {
    throw new TypeError(
      `a value of the type ${type.name} has ${wrong}, which JSON does not keep; give the type encode and decode`,
    );
  }
  return JSON.stringify(value);
}

/** Describes the first part of a value that would not come back from JSON as it is; undefined if there is none. */
function strange(value: unknown, path: string, within: readonly object[] = []): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  const here = path === '' ? '' : ` at ${path}`;
  if (typeof value !== 'object' || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return `${inspect(value, { depth: 0 })}${here}`;
  if (within.includes(value)) return `itself${here}`;
  const all = [...within, value];
  if (Array.isArray(value)) {
    for (const [i, each] of value.entries()) {
      const found = strange(each, `${path}[${i}]`, all);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  // Objects of another realm, as in Jest and node:vm, have another prototype.
  const proto: unknown = Object.getPrototypeOf(value);
  const isPlain = proto === null || Object.getPrototypeOf(proto) === null;
  if (!isPlain) return `${inspect(value, { depth: 0 })}${here}`;
  for (const [name, each] of Object.entries(value)) {
    const found = each === undefined ? undefined : strange(each, `${path}.${name}`, all);
    if (found !== undefined) return found;
  }
  return undefined;
}
