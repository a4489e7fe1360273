/** What is left in the databases of a node, as text that can be compared. */
import type { Entry } from '../../../keyspace/entry.ts';
import type { Keyspace } from '../../../keyspace/keyspace.ts';
import { MAX_ID, MIN_ID } from '../../../keyspace/stream/id.ts';
import type { KeyLeft } from '../stage.ts';

/** How many elements of a collection are compared: a large one is no lock. */
const MOST = 1000;

/** Every key of every database with its value. */
export function keysIn(databases: readonly Keyspace[]): KeyLeft[] {
  return databases.flatMap((db) =>
    [...db.entries].map(([name, entry]) => {
      const key = db.index === 0 ? name : `db${db.index}:${name}`;
      return { key, text: `${key}=${valueText(entry)}` };
    }),
  );
}

function valueText(entry: Entry): string {
  const value = entry.read();
  if (typeof value === 'string') return value;
  switch (value.type) {
    case 'list':
      return `[${some(value.values(), (each) => each).join(', ')}]`;
    case 'set':
      return `{${some(value.values(), (each) => each)
        .sort()
        .join(', ')}}`;
    case 'hash':
      return `{${some(value.entries(), ([field, each]) => `${field}=${each}`)
        .sort()
        .join(', ')}}`;
    case 'zset':
      return `{${some(value.entries(), ({ member, score }) => `${member}=${score}`).join(', ')}}`;
    case 'stream':
      // Not the ids: they are times, which differ from world to world.
      return `[${some(value.range(MIN_ID, MAX_ID), ({ fields }) => fields.join(' ')).join(', ')}]`;
    case 'vectorset':
      return `${value.size} vectors`;
    case 'own':
      return value.data;
  }
}

function some<T>(elements: Iterable<T>, text: (element: T) => string): string[] {
  const found: string[] = [];
  for (const element of elements) {
    if (found.length === MOST) break;
    found.push(text(element));
  }
  return found;
}
