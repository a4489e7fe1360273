/** Writes a value as a server would store it, uncompressed. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { HashValue } from '../collections/hash.ts';
import type { ListValue } from '../collections/list.ts';
import type { SetValue } from '../collections/set.ts';
import { isPackedInteger, type SortedSet } from '../collections/sorted-set.ts';
import { ListpackBuilder } from '../format/listpack.ts';
import { RdbWriter } from '../format/writer.ts';
import type { Value } from '../value.ts';
import { timedType, writeTimedHash } from './field-times.ts';
import type { RdbFormat } from './formats.ts';
import { writeIntset } from './old-forms.ts';
import { writeOwnValue } from './own-value.ts';
import { writeStream } from './stream.ts';
import { VALUE } from './types.ts';
import { writeVectorSet } from './vector-set.ts';

/** The maximum size of a quicklist node in bytes: Redis' default for list-max-listpack-size. */
const NODE_MAX = 8192;
/** How many bytes Redis adds for each element of a node and for its end mark. */
const ELEMENT_OVERHEAD = 9;
/** Room in bytes for what surrounds an element, a node, and the nodes in a payload, and the most at first. */
const ELEMENT_ROOM = 3;
const NODE_ROOM = 64;
const FOOTER_ROOM = 256;
const ROOM_MAX = 4 * 1024 ** 2;
/** The types of quicklist nodes: with a single element, and with a listpack. */
const PLAIN = 1;
const PACKED = 2;

/** The number of the form in which a server with this format stores the value. */
export function valueType(value: Value, format: RdbFormat): number {
  if (typeof value === 'string') return VALUE.string;
  switch (value.type) {
    case 'list':
      return VALUE.listQuicklist2;
    case 'set':
      if (value.encoding() === 'intset') return VALUE.setIntset;
      return value.encoding() === 'listpack' && format.types.has(VALUE.setListpack)
        ? VALUE.setListpack
        : VALUE.set;
    case 'hash':
      return (
        timedType(value, format.fieldTimes) ??
        (value.encoding() === 'hashtable' ? VALUE.hash : VALUE.hashListpack)
      );
    case 'zset':
      return value.encoding() === 'listpack' ? VALUE.zsetListpack : VALUE.zset;
    case 'stream':
      return latestStream(format);
    case 'vectorset':
    case 'own':
      return VALUE.module;
  }
}

function latestStream({ types }: RdbFormat): number {
  if (types.has(VALUE.streamListpacks5)) return VALUE.streamListpacks5;
  if (types.has(VALUE.streamListpacks4)) return VALUE.streamListpacks4;
  return types.has(VALUE.streamListpacks3) ? VALUE.streamListpacks3 : VALUE.streamListpacks2;
}

/** Writes a value in the form with this number. The number is not written. */
export function writeBody(out: RdbWriter, value: Value, type: number, format: RdbFormat): void {
  if (typeof value === 'string') {
    out.string(value);
    return;
  }
  switch (value.type) {
    case 'list':
      writeList(out, value, format);
      break;
    case 'set':
      writeSet(out, value, type);
      break;
    case 'hash':
      if (type === VALUE.hash || type === VALUE.hashListpack) writeHash(out, value);
      else writeTimedHash(out, value, type);
      break;
    case 'zset':
      writeSortedSet(out, value, format);
      break;
    case 'stream':
      writeStream(out, value, type);
      break;
    case 'vectorset':
      writeVectorSet(out, value, format);
      break;
    case 'own':
      writeOwnValue(out, value);
      break;
  }
}

function writeList(out: RdbWriter, list: ListValue, { plainNodes }: RdbFormat): void {
  const nodes: (Buffer | Bytes)[] = [];
  const packed = new RdbWriter(Math.min(list.bytes + ELEMENT_ROOM * list.size + NODE_ROOM, ROOM_MAX));
  let node = new ListpackBuilder(packed);
  const close = (): void => {
    if (node.count === 0) return;
    nodes.push(node.finish());
    node = new ListpackBuilder(packed);
  };
  for (let at = 0; at < list.size; at++) {
    const element = list.at(at)!;
    const plain = plainNodes && element.length > NODE_MAX;
    if (plain || node.length + element.length + ELEMENT_OVERHEAD > NODE_MAX) close();
    if (plain) nodes.push(element);
    else node.add(element);
  }
  close();
  out.expect(packed.length + FOOTER_ROOM);
  out.size(nodes.length);
  for (const data of nodes) {
    out.size(typeof data === 'string' ? PLAIN : PACKED);
    if (typeof data === 'string') out.string(data);
    else out.blob(data);
  }
}

function writeSet(out: RdbWriter, set: SetValue, type: number): void {
  if (type === VALUE.setIntset) out.blob(writeIntset(set.values()));
  else if (type === VALUE.setListpack) {
    const pack = new ListpackBuilder();
    for (const member of set.values()) pack.add(member);
    out.blob(pack.finish());
  } else writeStrings(out, set.size, set.values());
}

function writeHash(out: RdbWriter, hash: HashValue): void {
  if (hash.encoding() === 'hashtable') {
    out.size(hash.size);
    for (const [field, value] of hash.entries()) {
      out.string(field);
      out.string(value);
    }
    return;
  }
  const pack = new ListpackBuilder();
  for (const [field, value] of hash.entries()) {
    pack.add(field);
    pack.add(value);
  }
  out.blob(pack.finish());
}

function writeSortedSet(out: RdbWriter, zset: SortedSet, format: RdbFormat): void {
  if (zset.encoding() === 'skiplist') {
    out.size(zset.size);
    // Backwards, as Redis does, so that the reader always inserts at the head of its skiplist.
    for (const { member, score } of zset.entries(true)) {
      out.string(member);
      out.double(score);
    }
    return;
  }
  const pack = new ListpackBuilder();
  for (const { member, score } of zset.entries()) {
    pack.add(member);
    if (isPackedInteger(score)) pack.addInteger(BigInt(score));
    else pack.add(format.scoreText(score));
  }
  out.blob(pack.finish());
}

function writeStrings(out: RdbWriter, size: number, strings: Iterable<Bytes>): void {
  out.size(size);
  for (const text of strings) out.string(text);
}
