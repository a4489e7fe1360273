/** Finds what an effect in the replication stream touches: keys, whole databases, libraries of functions. */
import { asciiUpper, type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import type { Effect } from '../../server/ports.ts';
import type { Server } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { type FoundKey, findKeys } from '../../server/table/info.ts';
import { commandOf } from '../../server/table/resolve.ts';

/** The parts of the data that an effect may have changed. */
export interface Touched {
  readonly keys: readonly { readonly db: number; readonly key: Bytes }[];
  /** Databases in which any key may differ. */
  readonly databases: readonly number[];
  /**
   * What happened to these databases: 'emptied'; 'swapped': a key may have moved between two of them; or
   * 'unknown'.
   */
  readonly fate: 'emptied' | 'swapped' | 'unknown';
  /** True when any library of functions may differ. */
  readonly libraries: boolean;
}

const NONE: readonly number[] = [];
const NOTHING: Touched = { keys: [], databases: NONE, fate: 'emptied', libraries: false };

/** What the effect may have changed, according to the command table. Keys that it only reads are left out. */
export function touchedBy(server: Server, { db, argv }: Effect): Touched {
  const command = commandOf(server.commands, argv);
  if (command === undefined) return NOTHING;
  const { fullName } = command;
  const only = fullName === 'move' ? undefined : onlyKey(command, argv);
  if (only !== undefined)
    return { keys: [{ db, key: only }], databases: NONE, fate: 'emptied', libraries: false };
  if (fullName === 'flushall') return { ...NOTHING, databases: server.databases.map(({ index }) => index) };
  if (fullName === 'flushdb') return { ...NOTHING, databases: [db] };
  if (fullName === 'swapdb')
    return { ...NOTHING, databases: [numberAt(argv, 1), numberAt(argv, 2)], fate: 'swapped' };
  if (fullName.startsWith('function|')) return { ...NOTHING, libraries: true };
  const keys = writtenKeys(command, argv).map((key) => ({ db, key }));
  if (fullName === 'move') keys.push({ db: numberAt(argv, 2), key: argv[1] as Bytes });
  if (fullName === 'copy') return { ...NOTHING, keys: [{ db: copyTarget(db, argv), key: argv[2] as Bytes }] };
  // A command that a user added and that declares no keys may have changed any key.
  if (keys.length === 0 && command.spec.flags.includes('write'))
    return { ...NOTHING, databases: [db], fate: 'unknown' };
  return { ...NOTHING, keys };
}

/** The key that a request writes, of a command that has one key and no others. Most writes are of this kind. */
function onlyKey({ spec }: Command, argv: readonly Bytes[]): Bytes | undefined {
  const { keys, getKeys, getFlags } = spec;
  if (keys?.length !== 1 || getKeys !== undefined) return undefined;
  const { begin, find, flags } = keys[0]!;
  if (typeof begin !== 'number' || find === 'unknown' || !('last' in find) || find.last !== 0)
    return undefined;
  return (getFlags?.(argv) ?? flags).startsWith('RO') ? undefined : argv[begin];
}

function writtenKeys(command: Command, argv: readonly Bytes[]): Bytes[] {
  const found = findKeys(command, argv) ?? firstKeys(command);
  const written = found.filter(({ at, flags }) => at < argv.length && !/^RO\b/.test(flags));
  return [...new Set(written.map(({ at }) => argv[at] as Bytes))];
}

/** The keys of a request with missing arguments, such as PFMERGE without a source: it still has the first ones. */
function firstKeys(command: Command): FoundKey[] {
  return (command.spec.keys ?? []).flatMap(({ begin, flags }) =>
    typeof begin === 'number' ? [{ at: begin, flags }] : [],
  );
}

function numberAt(argv: readonly Bytes[], at: number): number {
  return parseSafeInteger(argv[at] ?? '') ?? 0;
}

/** COPY source destination [DB number] [REPLACE] */
function copyTarget(db: number, argv: readonly Bytes[]): number {
  const at = argv.findIndex((word, i) => i > 2 && asciiUpper(word) === 'DB');
  return at < 0 ? db : numberAt(argv, at + 1);
}
