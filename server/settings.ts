/**
 * The configuration parameters, by redis.conf's names: type, default, bounds. CONFIG GET and SET, the CLI's flags and
 * startServer's options all derive from this table.
 */
import { asciiLower, type Bytes, parseSafeInteger } from '../protocol/bytes.ts';
import { parseEventClasses, printEventClasses } from './event-classes.ts';

/** A refusal says why, in Redis' words. */
export class BadSetting {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

type Reader<T> = (text: Bytes) => T | BadSetting;

/** Whether CONFIG SET refuses it, as immutable or as protected. */
type Fixed = boolean | 'protected';

/** One parameter: its default, how its text is read and printed, and whether it is fixed once running, or protected. */
function parameter<T>(initial: T, read: Reader<T>, print: (value: T) => Bytes, fixed: Fixed = false) {
  return { initial, read, print, fixed };
}

function integer(initial: number, min = 0, max = Number.MAX_SAFE_INTEGER, fixed = false) {
  const read = (text: Bytes): number | BadSetting => {
    const value = parseSafeInteger(text);
    if (value === undefined) return new BadSetting("argument couldn't be parsed into an integer");
    if (value < min || value > max)
      return new BadSetting(`argument must be between ${min} and ${max} inclusive`);
    return value;
  };
  return parameter<number>(initial, read, String, fixed);
}

const UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1000,
  kb: 1024,
  m: 1e6,
  mb: 1024 ** 2,
  g: 1e9,
  gb: 1024 ** 3,
};

/** Reads a size such as 100mb, in bytes. */
export function parseMemory(text: Bytes): number | undefined {
  const [, digits = '', unit = ''] = /^(\d+)([a-z]*)$/.exec(asciiLower(text)) ?? [];
  const factor = UNITS[unit];
  const count = parseSafeInteger(digits);
  return count === undefined || factor === undefined ? undefined : count * factor;
}

function memory(initial: number, min = 0, max = Number.MAX_SAFE_INTEGER) {
  const read = (text: Bytes): number | BadSetting => {
    const value = parseMemory(text);
    if (value === undefined) return new BadSetting('argument must be a memory value');
    if (value < min || value > max)
      return new BadSetting(`argument must be between ${min} and ${max} inclusive`);
    return value;
  };
  return parameter<number>(initial, read, String);
}

function flag(initial: boolean, fixed = false) {
  const read = (text: Bytes): boolean | BadSetting => {
    const word = asciiLower(text);
    return word === 'yes' ? true : word === 'no' ? false : new BadSetting("argument must be 'yes' or 'no'");
  };
  return parameter<boolean>(initial, read, (value) => (value ? 'yes' : 'no'), fixed);
}

function text(initial: Bytes, fixed: Fixed = false) {
  return parameter<Bytes>(
    initial,
    (value) => value,
    (value) => value,
    fixed,
  );
}

function eventClasses() {
  const read = (letters: Bytes): Bytes | BadSetting => {
    const classes = parseEventClasses(letters);
    if (classes !== undefined) return printEventClasses(classes);
    return new BadSetting("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
  };
  return parameter<Bytes>('', read, (value) => value);
}

/** The kinds of clients whose output is limited apart. */
export const OUTPUT_CLASSES = ['normal', 'slave', 'pubsub'] as const;
export type OutputClass = (typeof OUTPUT_CLASSES)[number];

/** In bytes and seconds; 0: no limit. */
export interface OutputLimit {
  readonly hard: number;
  readonly soft: number;
  readonly seconds: number;
}

/** Reads client-output-buffer-limit: `class hard soft seconds` groups. */
export function parseOutputLimits(text: Bytes): Map<OutputClass, OutputLimit> | BadSetting {
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length % 4 !== 0) {
    return new BadSetting('Wrong number of arguments in buffer limit configuration.');
  }
  const limits = new Map<OutputClass, OutputLimit>();
  for (let at = 0; at < words.length; at += 4) {
    const name = asciiLower(words[at] as Bytes);
    const which = name === 'replica' ? 'slave' : OUTPUT_CLASSES.find((each) => each === name);
    if (which === undefined) {
      return new BadSetting('Invalid client class specified in buffer limit configuration.');
    }
    const hard = parseMemory(words[at + 1] as Bytes);
    const soft = parseMemory(words[at + 2] as Bytes);
    const seconds = parseSafeInteger(words[at + 3] as Bytes) ?? -1;
    if (hard === undefined || soft === undefined || seconds < 0) {
      return new BadSetting('Error in hard, soft or soft_seconds setting in buffer limit configuration.');
    }
    limits.set(which, { hard, soft, seconds });
  }
  return limits;
}

function outputLimits() {
  const read = (text: Bytes): Bytes | BadSetting => {
    const limits = parseOutputLimits(text);
    return limits instanceof BadSetting ? limits : text;
  };
  const initial = 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60';
  return parameter<Bytes>(initial, read, (value) => value);
}

/** Every parameter that means something here. */
export const parameters = {
  port: integer(6379, 0, 65535, true),
  bind: text('127.0.0.1', true),
  unixsocket: text('', true),
  databases: integer(16, 1, 2 ** 31 - 1, true),
  requirepass: text(''),
  maxclients: integer(10000, 1, 2 ** 32 - 1),
  timeout: integer(0, 0, 2 ** 31 - 1),
  maxmemory: memory(0),
  'maxmemory-policy': text('noeviction'),
  // V8's longest string is 24 bytes short of Redis' own maximum.
  'proto-max-bulk-len': memory(512 * 1024 ** 2, 1024 ** 2),
  'client-output-buffer-limit': outputLimits(),
  'client-query-buffer-limit': memory(1024 ** 3, 1024 ** 2),
  'notify-keyspace-events': eventClasses(),
  'busy-reply-threshold': integer(5000),
  appendonly: flag(false),
  appendfsync: text('everysec'),
  save: text(''),
  dir: text('.', 'protected'),
  dbfilename: text('dump.rdb', 'protected'),
  'replica-read-only': flag(true),
  'replica-serve-stale-data': flag(true),
  'replica-priority': integer(100),
  'min-replicas-to-write': integer(0),
  'min-replicas-max-lag': integer(10),
  'repl-backlog-size': memory(1024 ** 2, 1),
  'repl-timeout': integer(60, 1),
  'repl-ping-replica-period': integer(10, 1),
  masterauth: text(''),
  'cluster-enabled': flag(false, true),
  'hash-max-listpack-entries': integer(512),
  'hash-max-listpack-value': memory(64),
  'set-max-intset-entries': integer(512),
  'zset-max-listpack-entries': integer(128),
  'zset-max-listpack-value': memory(64),
  'list-max-listpack-size': integer(-2, -5),
  'hll-sparse-max-bytes': memory(3000),
  'stream-node-max-bytes': memory(4096),
  'stream-node-max-entries': integer(100),
};

/** Older names that CONFIG and the command line still take. */
export const aliases: Record<string, keyof typeof parameters> = {
  'lua-time-limit': 'busy-reply-threshold',
  'slave-read-only': 'replica-read-only',
  'slave-serve-stale-data': 'replica-serve-stale-data',
  'slave-priority': 'replica-priority',
  'min-slaves-to-write': 'min-replicas-to-write',
  'min-slaves-max-lag': 'min-replicas-max-lag',
  'hash-max-ziplist-entries': 'hash-max-listpack-entries',
  'hash-max-ziplist-value': 'hash-max-listpack-value',
  'zset-max-ziplist-entries': 'zset-max-listpack-entries',
  'zset-max-ziplist-value': 'zset-max-listpack-value',
  'list-max-ziplist-size': 'list-max-listpack-size',
};

export type Settings = { -readonly [K in keyof typeof parameters]: (typeof parameters)[K]['initial'] };

/** A fresh set of defaults. */
export function defaultSettings(): Settings {
  const entries = Object.entries(parameters).map(([name, { initial }]) => [name, initial]);
  return Object.fromEntries(entries) as Settings;
}
