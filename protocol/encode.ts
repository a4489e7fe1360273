/** Encodes replies as RESP2 or RESP3, and requests for the replication stream, as Redis writes them. */
import { allocatePart } from './allowance.ts';
import { Assembler } from './assembler.ts';
import { type Bytes, formatDouble } from './bytes.ts';
import {
  BigNumber,
  Double,
  MapReply,
  NULL_ARRAY,
  NullArray,
  OK,
  PairsReply,
  PushReply,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  type Verbatim,
} from './reply.ts';

const CACHED = 1024;
/** Lines that have been printed before, by the number in them. */
type Lines = (Bytes | undefined)[];
const lines = (): Lines => new Array<Bytes | undefined>(CACHED).fill(undefined);
const BULK_HEADS = lines();
/** The end of a bulk string, and the head of the next. */
const NEXT_HEADS = lines();
const ARRAY_HEADS = lines();
const INTEGERS = lines();
const LINE_BREAK = /[\r\n]/;

/** A long list is assembled from parts of so many items. */
const PART = 32;
const assembler = new Assembler();

/** How doubles are printed, where a reply does not say. */
export type PrintDouble = (value: number) => Bytes;

/** The bytes of a reply in the client's protocol version. Replies can be nested to any depth. */
export function encodeReply(reply: Reply, protocol: 2 | 3, print: PrintDouble = formatDouble): Bytes {
  if (typeof reply === 'string') return encodeBulk(reply);
  if (typeof reply === 'number') return encodeInteger(reply);
  if (reply === OK) return '+OK\r\n';
  if (reply === null) return protocol === 2 ? '$-1\r\n' : '_\r\n';
  if (reply === NULL_ARRAY) return protocol === 2 ? '*-1\r\n' : '_\r\n';
  if (reply instanceof SimpleString) return `+${oneLine(reply.text)}\r\n`;
  return isAggregate(reply) ? encodeNested(reply, protocol, print) : encodeLeaf(reply, protocol, print);
}

/** A command as the replication stream contains it: an array of bulk strings. */
export function encodeRequest(argv: readonly Bytes[]): Bytes {
  let out = encodeArrayHead(argv.length);
  for (let i = 0; i < argv.length; i++) out += encodeBulk(argv[i]!);
  return out;
}

/** A bulk string. */
export function encodeBulk(text: Bytes): Bytes {
  return `${encodeBulkHead(text.length)}${text}\r\n`;
}

/** The line of a number. It is kept if the number is small. */
function line(kept: Lines, mark: Bytes, value: number): Bytes {
  const text = `${mark}${value}\r\n`;
  if (value >= 0 && value < CACHED && Number.isInteger(value)) kept[value] = text;
  return text;
}

/** The header of a bulk string; its bytes and a line break follow. */
export function encodeBulkHead(length: number): Bytes {
  return (length < CACHED ? BULK_HEADS[length] : undefined) ?? line(BULK_HEADS, '$', length);
}

function encodeInteger(value: number): Bytes {
  return (value >= 0 && value < CACHED ? INTEGERS[value] : undefined) ?? line(INTEGERS, ':', value);
}

/** The header of an array; its items follow. */
export function encodeArrayHead(length: number): Bytes {
  return (length < CACHED ? ARRAY_HEADS[length] : undefined) ?? line(ARRAY_HEADS, '*', length);
}

type Aggregate = readonly Reply[] | MapReply | SetReply | PairsReply | PushReply;
type Leaf = Exclude<Reply, Aggregate>;

function isAggregate(reply: Reply): reply is Aggregate {
  return (
    typeof reply === 'object' &&
    (Array.isArray(reply) ||
      reply instanceof MapReply ||
      reply instanceof PairsReply ||
      reply instanceof SetReply ||
      reply instanceof PushReply)
  );
}

function encodeLeaf(reply: Leaf, protocol: 2 | 3, print: PrintDouble): Bytes {
  if (typeof reply === 'string') return encodeBulk(reply);
  if (typeof reply === 'number') return encodeInteger(reply);
  if (reply === null) return protocol === 2 ? '$-1\r\n' : '_\r\n';
  if (reply instanceof SimpleString) return `+${oneLine(reply.text)}\r\n`;
  if (reply instanceof ReplyError) return `-${errorLine(reply.text)}\r\n`;
  if (typeof reply === 'bigint') return `:${reply}\r\n`;
  if (typeof reply === 'boolean') {
    if (protocol === 2) return reply ? ':1\r\n' : ':0\r\n';
    return reply ? '#t\r\n' : '#f\r\n';
  }
  if (reply instanceof NullArray) return protocol === 2 ? '*-1\r\n' : '_\r\n';
  if (reply instanceof Double) {
    const text = reply.text ?? print(reply.value);
    return protocol === 2 ? encodeBulk(text) : `,${text}\r\n`;
  }
  if (reply instanceof BigNumber) return protocol === 2 ? encodeBulk(reply.digits) : `(${reply.digits}\r\n`;
  return encodeVerbatim(reply, protocol);
}

function encodeVerbatim(reply: Verbatim, protocol: 2 | 3): Bytes {
  if (protocol === 2) return encodeBulk(reply.text);
  return `=${reply.text.length + 4}\r\n${reply.format}:${reply.text}\r\n`;
}

/** A status or error is one line. A line break inside it would be read as the next reply. */
function oneLine(text: Bytes): Bytes {
  return LINE_BREAK.test(text) ? text.replace(/[\r\n]/g, ' ') : text;
}

/** Line breaks at the end of an error are removed. */
function errorLine(text: Bytes): Bytes {
  return LINE_BREAK.test(text) ? oneLine(text.replace(/[\r\n]+$/, '')) : text;
}

/** A container that waits for an inner one to be written. With `paired`, every second item opens an array of two. */
interface OpenContainer {
  readonly items: readonly Reply[];
  readonly paired: boolean;
  readonly next: number;
}

function encodeNested(reply: Aggregate, protocol: 2 | 3, print: PrintDouble): Bytes {
  const outer: OpenContainer[] = [];
  let items = itemsOf(reply);
  let paired = protocol === 3 && reply instanceof PairsReply;
  let next = 0;
  let out = encodeHead(reply, protocol);
  let before: Assembler | undefined;
  for (;;) {
    if (next !== 0 && next % PART === 0) {
      before = extended(before, out);
      out = '';
    }
    if (next === items.length) {
      const parent = outer.pop();
      if (parent === undefined) return before === undefined ? out : before.take(out);
      ({ items, paired, next } = parent);
      continue;
    }
    if (paired && next % 2 === 0) out += '*2\r\n';
    const item = items[next++]!;
    if (typeof item === 'string') {
      out += encodeBulkHead(item.length);
      out += item;
      // Between two strings is one piece instead of two: a reply of ten strings takes 0.38 microseconds instead of 0.65.
      for (; !paired; next++) {
        const text = bulkOf(items[next], protocol, print);
        if (text === undefined) break;
        if (next % PART === 0) {
          before = extended(before, out);
          out = '';
        }
        out += NEXT_HEADS[text.length] ?? line(NEXT_HEADS, '\r\n$', text.length);
        out += text;
      }
      out += '\r\n';
    } else if (isAggregate(item)) {
      out += encodeHead(item, protocol);
      outer.push({ items, paired, next });
      items = itemsOf(item);
      paired = protocol === 3 && item instanceof PairsReply;
      next = 0;
    } else {
      out += encodeLeaf(item, protocol, print);
    }
  }
}

/** The text of an item that is a bulk string: a string, or in RESP2 a double. */
function bulkOf(item: Reply | undefined, protocol: 2 | 3, print: PrintDouble): Bytes | undefined {
  if (typeof item === 'string') return item;
  return protocol === 2 && item instanceof Double ? (item.text ?? print(item.value)) : undefined;
}

/** Adds a part of a list. */
function extended(before: Assembler | undefined, part: Bytes): Assembler {
  const text = before ?? assembler.clear();
  text.add(part);
  allocatePart(part.length, text.length);
  return text;
}

function itemsOf(reply: Aggregate): readonly Reply[] {
  return Array.isArray(reply) ? reply : (reply as MapReply).items;
}

function encodeHead(reply: Aggregate, protocol: 2 | 3): Bytes {
  const { length } = itemsOf(reply);
  if (protocol === 2 || Array.isArray(reply)) return encodeArrayHead(length);
  if (reply instanceof MapReply) return `%${length / 2}\r\n`;
  if (reply instanceof PairsReply) return encodeArrayHead(length / 2);
  return reply instanceof SetReply ? `~${length}\r\n` : `>${length}\r\n`;
}
