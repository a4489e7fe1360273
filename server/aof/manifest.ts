/**
 * The manifest of a multi-part append-only file: which files it consists of, in which order they are loaded
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/#append-only-file).
 */
import { asciiLower, type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import { quotedIfNeeded, splitInline } from '../../protocol/inline.ts';
import { AofError } from './aof-error.ts';

/** A file of the set. */
export interface AofPart {
  readonly name: Bytes;
  readonly seq: number;
  /** The replication offset at which an increment begins; since Redis 8.0. */
  readonly from?: number | undefined;
  /** The replication offset at which it ends; undefined while it is being written. */
  to?: number | undefined;
}

/** The files of an append-only file. */
export interface Manifest {
  /** The dataset at one moment; undefined if there is none. */
  base: AofPart | undefined;
  /** The commands after that moment, oldest first. */
  increments: AofPart[];
  /** Files that a rewrite has replaced, and that are about to be removed. */
  history: AofPart[];
}

/** In bytes, with the line feed. */
const LONGEST_LINE = 1024;

const INVALID = 'Invalid AOF manifest file format';

/** Returns a manifest without files. */
export function emptyManifest(): Manifest {
  return { base: undefined, increments: [], history: [] };
}

/** Reads a manifest. Throws AofError with redis-server's words. */
export function readManifest(text: Bytes): Manifest {
  const manifest = emptyManifest();
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    if (end < 0 || end - at >= LONGEST_LINE) throw wrong('The AOF manifest file contains too long line');
    const line = text.slice(at, end);
    at = end + 1;
    lines++;
    if (line.startsWith('#')) continue;
    const trimmed = line.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
    const why = addLine(manifest, trimmed);
    if (why !== undefined) {
      throw wrong(`Reading the manifest file, at line ${lines}\n>>> '${trimmed}'\n${why}`);
    }
  }
  if (lines === 0) throw wrong('Found an empty AOF manifest');
  return manifest;
}

function wrong(why: string): AofError {
  return new AofError(`\n*** FATAL AOF MANIFEST FILE ERROR ***\n${why}`);
}

/** Adds the file that a line describes. Returns what is wrong with the line; undefined if nothing is. */
function addLine(manifest: Manifest, line: Bytes): string | undefined {
  const words = splitInline(line) ?? [];
  if (words.length < 6 || words.length % 2 !== 0) return INVALID;
  const fields = new Map<Bytes, Bytes>();
  for (let at = 0; at < words.length; at += 2) fields.set(asciiLower(words[at] ?? ''), words[at + 1] ?? '');
  const name = fields.get('file') ?? '';
  const seq = parseSafeInteger(fields.get('seq') ?? '') ?? 0;
  const kind = fields.get('type') ?? '';
  if (/[/\\]/.test(name)) return "File can't be a path, just a filename";
  if (name === '' || seq === 0 || kind === '') return INVALID;
  const offset = (field: Bytes): number | undefined => parseSafeInteger(fields.get(field) ?? '');
  const part: AofPart = { name, seq, from: offset('startoffset'), to: offset('endoffset') };
  if (kind[0] === 'b') {
    if (manifest.base !== undefined) return 'Found duplicate base file information';
    manifest.base = part;
  } else if (kind[0] === 'h') {
    manifest.history.push(part);
  } else if (kind[0] === 'i') {
    if (seq <= (manifest.increments.at(-1)?.seq ?? 0)) return 'Found a non-monotonic sequence number';
    manifest.increments.push(part);
  } else {
    return 'Unknown AOF file type';
  }
  return undefined;
}

/** Returns the text of a manifest. @param offsets whether it names the offsets of increments, as Redis 8 does */
export function printManifest({ base, increments, history }: Manifest, offsets: boolean): Bytes {
  const line = ({ name, seq, from, to }: AofPart, kind: string): Bytes => {
    const start = offsets && from !== undefined ? ` startoffset ${from}` : '';
    const end = offsets && to !== undefined ? ` endoffset ${to}` : '';
    return `file ${quotedIfNeeded(name)} seq ${seq} type ${kind}${start}${end}\n`;
  };
  return [
    ...(base === undefined ? [] : [line(base, 'b')]),
    ...history.map((part) => line(part, 'h')),
    ...increments.map((part) => line(part, 'i')),
  ].join('');
}
