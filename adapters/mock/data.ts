/** The option `data` of ioredis-mock: its values as entries of a seed. */
import { badOption } from '../../base/options.ts';
import type { DumpEntry, Text } from '../../start/dataset.ts';

/** Keys with their values, in the forms of ioredis-mock. */
export type MockData = Readonly<Record<string, unknown>>;

const FORMS =
  'text, a number, a Buffer, an array (list), a Set, an object (hash), a Map of { score, value } (sorted set), or an array of [id, [field, value]] (stream)';

/**
 * The entries of the data.
 * @param prefix the client's `keyPrefix`
 * @throws TypeError for a value that no key can have
 */
export function entriesOf(data: MockData, prefix: string, db: number): DumpEntry[] {
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw badOption('data', data, 'an object of keys with their values');
  return Object.entries(data).flatMap(([name, value]) => {
    const entry = readValue(value, () => badOption(`data[${JSON.stringify(name)}]`, value, FORMS));
    // Redis has no empty collections.
    return entry.value.length === 0 && entry.type !== 'string' ? [] : [{ ...entry, db, key: prefix + name }];
  });
}

type DataEntry = { readonly type: DumpEntry['type']; readonly value: string | Buffer | readonly unknown[] };

function readValue(value: unknown, wrong: () => TypeError): DumpEntry & DataEntry {
  const text = (part: unknown): Text => textOf(part, wrong);
  const made = (type: DataEntry['type'], content: DataEntry['value']) =>
    ({ type, value: content, key: '' }) as DumpEntry & DataEntry;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array)
    return made('string', text(value));
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isStreamEntry))
      return made(
        'stream',
        value.map(([id, fields]) => [id, fields.map(text)]),
      );
    return made('list', value.map(text));
  }
  switch (Object.prototype.toString.call(value)) {
    case '[object Set]':
      return made('set', [...(value as Set<unknown>)].map(text));
    case '[object Map]': {
      const pairs = [...(value as Map<unknown, unknown>)];
      if (pairs.length > 0 && pairs.every(([, each]) => isScored(each))) {
        const scored = pairs.map(([, each]) => each as { score: number; value: unknown });
        return made(
          'zset',
          scored.map((each) => [text(each.value), Number(each.score)]),
        );
      }
      return made(
        'hash',
        pairs.map((pair) => pair.map(text)),
      );
    }
    case '[object Object]':
      return made(
        'hash',
        Object.entries(value).map((pair) => pair.map(text)),
      );
    default:
      throw wrong();
  }
}

function isStreamEntry(entry: unknown): entry is [id: string, fields: unknown[]] {
  return (
    Array.isArray(entry) &&
    entry.length === 2 &&
    /^\d+-\d+$/.test(String(entry[0])) &&
    Array.isArray(entry[1])
  );
}

function isScored(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'score' in value && 'value' in value;
}

function textOf(value: unknown, wrong: () => TypeError): Text {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  throw wrong();
}
