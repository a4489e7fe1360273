/** The messages of Redis' cluster bus, as bytes: a header that describes the sender, and data for each type. */
import type { Bytes } from '../protocol/bytes.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';

/** The types of messages, by their numbers. */
export const TYPES = [
  'ping',
  'pong',
  'meet',
  'fail',
  'publish',
  'auth-req',
  'auth-ack',
  'update',
  'mfstart',
  'module',
  'publishshard',
] as const;

export type MessageType = (typeof TYPES)[number];

/** What the header says about the sender. */
export interface Sender {
  readonly id: Bytes;
  /** The port of the bus's transport, and that of the other one. */
  readonly port: number;
  readonly otherPort: number;
  readonly busPort: number;
  /** The address that the sender announces; '' for that of the connection. */
  readonly ip: Bytes;
  readonly flags: number;
  readonly currentEpoch: number;
  /** The configuration epoch of the sender's shard. */
  readonly configEpoch: number;
  readonly offset: number;
  /** The slots of the sender's shard, as bits. */
  readonly slots: Bytes;
  /** The primary that the sender follows; '' for none. */
  readonly primary: Bytes;
  readonly isOk: boolean;
  /** The sender has paused its clients, to hand over to a replica. */
  readonly isPaused: boolean;
  /** The sender asks for votes although its primary works. */
  readonly isForced: boolean;
}

/** What a message says about a third node. Times are in milliseconds; the bus has seconds. */
export interface Rumour {
  readonly id: Bytes;
  readonly pingSentAt: number;
  readonly pongAt: number;
  readonly ip: Bytes;
  readonly port: number;
  readonly otherPort: number;
  readonly busPort: number;
  readonly flags: number;
}

/** The data of a message. A type uses only its own fields. */
export interface MessageBody {
  /** `ping`, `pong`, `meet`. */
  readonly rumours?: readonly Rumour[];
  /** The hostname and the shard of the sender, with `ping`, `pong` and `meet`. */
  readonly hostname?: Bytes;
  readonly shardId?: Bytes;
  /** The node that has failed, and the one whose slots an `update` lists. */
  readonly about?: Bytes;
  readonly configEpoch?: number;
  readonly slots?: Bytes;
  /** `publish`, `publishshard`. */
  readonly channel?: Bytes;
  readonly text?: Bytes;
}

export interface BusMessage extends MessageBody {
  readonly type: MessageType;
  readonly sender: Sender;
}

const ID = 40;
const IP = 46;
const HEADER = 2256;
const RUMOUR = ID + 8 + IP + 10;
const SLOT_BYTES = SLOT_COUNT / 8;
/** Bits of the first byte of message flags. */
const PAUSED = 1;
const FORCED = 2;
const EXTENDED = 4;
/** The numbers of the extensions of a `ping`. */
const HOSTNAME = 0;
const SHARD_ID = 3;

/** The start of every message: signature, length in four bytes, version. */
const SIGNATURE = 'RCmb';
const VERSION = 1;
/** Nobody sends longer messages: those that publish are limited by the longest string. */
const LONGEST = 2 ** 29;

function number(value: number, bytes: number): Bytes {
  let out = '';
  for (let i = bytes - 1; i >= 0; i--) out += String.fromCharCode(Math.floor(value / 256 ** i) % 256);
  return out;
}

function padded(text: Bytes, length: number): Bytes {
  return text.slice(0, length).padEnd(length, '\0');
}

function zeros(length: number): Bytes {
  return '\0'.repeat(length);
}

function extension(type: number, data: Bytes): Bytes {
  if (data === '') return '';
  const length = Math.ceil(data.length / 8) * 8;
  return number(length + 8, 4) + number(type, 2) + zeros(2) + padded(data, length);
}

function isGossip(type: MessageType): boolean {
  return type === 'ping' || type === 'pong' || type === 'meet';
}

function encodeBody(type: MessageType, body: MessageBody): { data: Bytes; extensions: number } {
  const { about = '', configEpoch = 0, slots = '', channel = '', text = '' } = body;
  if (isGossip(type)) {
    const { hostname = '', shardId = '' } = body;
    const named = hostname === '' ? '' : extension(HOSTNAME, `${hostname}\0`);
    const sharded = extension(SHARD_ID, shardId);
    const rumours = (body.rumours ?? []).map(encodeRumour).join('');
    const extensions = (named === '' ? 0 : 1) + (sharded === '' ? 0 : 1);
    return { data: rumours + named + sharded, extensions };
  }
  if (type === 'fail') return { data: padded(about, ID), extensions: 0 };
  if (type === 'update') {
    return { data: number(configEpoch, 8) + padded(about, ID) + padded(slots, SLOT_BYTES), extensions: 0 };
  }
  if (type === 'publish' || type === 'publishshard') {
    return { data: number(channel.length, 4) + number(text.length, 4) + channel + text, extensions: 0 };
  }
  return { data: '', extensions: 0 };
}

function encodeRumour({ id, pingSentAt, pongAt, ip, port, otherPort, busPort, flags }: Rumour): Bytes {
  const times = number(Math.floor(pingSentAt / 1000), 4) + number(Math.floor(pongAt / 1000), 4);
  const ports = number(port, 2) + number(busPort, 2);
  return padded(id, ID) + times + padded(ip, IP) + ports + number(flags, 2) + number(otherPort, 2) + zeros(2);
}

export function encodeMessage({ type, sender, ...body }: BusMessage): Bytes {
  const { data, extensions } = encodeBody(type, body);
  const count = isGossip(type) ? (body.rumours?.length ?? 0) : 0;
  const flags =
    (sender.isPaused ? PAUSED : 0) | (sender.isForced ? FORCED : 0) | (extensions > 0 ? EXTENDED : 0);
  return [
    SIGNATURE,
    number(HEADER + data.length, 4),
    number(VERSION, 2),
    number(sender.port, 2),
    number(TYPES.indexOf(type), 2),
    number(count, 2),
    number(sender.currentEpoch, 8),
    number(sender.configEpoch, 8),
    number(sender.offset, 8),
    padded(sender.id, ID),
    padded(sender.slots, SLOT_BYTES),
    padded(sender.primary, ID),
    padded(sender.ip, IP),
    number(extensions, 2),
    zeros(30),
    number(sender.otherPort, 2),
    number(sender.busPort, 2),
    number(sender.flags, 2),
    number(sender.isOk ? 0 : 1, 1),
    number(flags, 1),
    zeros(2),
    data,
  ].join('');
}

/** Reads fields one after another. */
class FieldReader {
  readonly #bytes: Bytes;
  at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  number(bytes: number): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + (this.#bytes.charCodeAt(this.at++) || 0);
    return value;
  }

  bytes(length: number): Bytes {
    this.at += length;
    return this.#bytes.slice(this.at - length, this.at);
  }

  /** Text that zeros fill up. */
  text(length: number): Bytes {
    const field = this.bytes(length);
    const end = field.indexOf('\0');
    return end < 0 ? field : field.slice(0, end);
  }

  get rest(): number {
    return this.#bytes.length - this.at;
  }
}

/** Splits the first complete message off. Returns undefined if there is none yet, and false for other bytes. */
export function splitMessage(bytes: Bytes): { message: Bytes; rest: Bytes } | undefined | false {
  if (!SIGNATURE.startsWith(bytes.slice(0, 4))) return false;
  if (bytes.length < 8) return undefined;
  const length = new FieldReader(bytes.slice(4, 8)).number(4);
  if (length < HEADER || length > LONGEST) return false;
  return bytes.length < length ? undefined : { message: bytes.slice(0, length), rest: bytes.slice(length) };
}

/** Decodes a whole message. Returns undefined for a version or a type that is not known, and for a wrong length. */
export function decodeMessage(bytes: Bytes): BusMessage | undefined {
  const fields = new FieldReader(bytes);
  fields.at = 8;
  if (fields.number(2) !== VERSION) return undefined;
  const port = fields.number(2);
  const type = TYPES[fields.number(2)];
  const count = fields.number(2);
  const [currentEpoch, configEpoch, offset] = [fields.number(8), fields.number(8), fields.number(8)];
  const [id, slots, primary, ip] = [
    fields.text(ID),
    fields.bytes(SLOT_BYTES),
    fields.text(ID),
    fields.text(IP),
  ];
  const extensions = fields.number(2);
  fields.at += 30;
  const [otherPort, busPort, flags, state, bits] = [
    fields.number(2),
    fields.number(2),
    fields.number(2),
    fields.number(1),
    fields.number(1),
  ];
  fields.at = HEADER;
  if (type === undefined) return undefined;
  const body = decodeBody(type, fields, count, extensions);
  const sender: Sender = {
    ...{ id, port, otherPort, busPort, ip, flags, currentEpoch, configEpoch, offset, slots, primary },
    isOk: state === 0,
    isPaused: (bits & PAUSED) !== 0,
    isForced: (bits & FORCED) !== 0,
  };
  return body && { type, sender, ...body };
}

function decodeBody(
  type: MessageType,
  fields: FieldReader,
  count: number,
  extensions: number,
): MessageBody | undefined {
  if (isGossip(type)) {
    if (fields.rest < count * RUMOUR) return undefined;
    const rumours = Array.from({ length: count }, () => decodeRumour(fields));
    return { rumours, ...decodeExtensions(fields, extensions) };
  }
  if (type === 'fail') return fields.rest < ID ? undefined : { about: fields.text(ID) };
  if (type === 'update') {
    if (fields.rest < 8 + ID + SLOT_BYTES) return undefined;
    const configEpoch = fields.number(8);
    return { configEpoch, about: fields.text(ID), slots: fields.bytes(SLOT_BYTES) };
  }
  if (type === 'publish' || type === 'publishshard') {
    const [channel, text] = [fields.number(4), fields.number(4)];
    if (fields.rest < channel + text) return undefined;
    return { channel: fields.bytes(channel), text: fields.bytes(text) };
  }
  return {};
}

function decodeRumour(fields: FieldReader): Rumour {
  const id = fields.text(ID);
  const [pingSentAt, pongAt] = [fields.number(4) * 1000, fields.number(4) * 1000];
  const ip = fields.text(IP);
  const [port, busPort, flags] = [fields.number(2), fields.number(2), fields.number(2)];
  const otherPort = fields.number(2);
  fields.at += 2;
  return { id, pingSentAt, pongAt, ip, port, otherPort, busPort, flags };
}

function decodeExtensions(fields: FieldReader, count: number): { hostname: Bytes; shardId?: Bytes } {
  let hostname = '';
  let shardId: Bytes | undefined;
  for (let i = 0; i < count && fields.rest >= 8; i++) {
    const length = fields.number(4);
    const type = fields.number(2);
    fields.at += 2;
    if (length < 8 || fields.rest < length - 8) break;
    if (type === HOSTNAME) hostname = fields.text(length - 8);
    else if (type === SHARD_ID) shardId = fields.text(length - 8);
    else fields.at += length - 8;
  }
  return { hostname, ...(shardId !== undefined && { shardId }) };
}
