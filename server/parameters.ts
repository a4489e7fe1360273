/** The kinds of configuration parameters: how the text of each is read, checked and printed. */
import { asciiLower, type Bytes, parseDouble, parseSafeInteger } from '../protocol/bytes.ts';
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

/** After so many seconds with so many changes the dataset is saved. */
export interface SavePoint {
  readonly seconds: number;
  readonly changes: number;
}

/** Reads `save`: pairs of seconds and changes; undefined when they are none. */
export function parseSavePoints(text: Bytes): SavePoint[] | undefined {
  const numbers = text
    .split(' ')
    .filter((word) => word !== '')
    .map(parseSafeInteger);
  const points: SavePoint[] = [];
  if (numbers.length % 2 !== 0) return undefined;
  for (let at = 0; at < numbers.length; at += 2) {
    const [seconds, changes] = [numbers[at], numbers[at + 1]];
    if (seconds === undefined || changes === undefined || seconds < 1 || changes < 0) return undefined;
    points.push({ seconds, changes });
  }
  return points;
}

/** When the dataset is saved. */
export function savePoints() {
  const read = (text: Bytes): Bytes | BadSetting => {
    const points = parseSavePoints(text);
    if (points === undefined) return new BadSetting('Invalid save parameters');
    return points.map(({ seconds, changes }) => `${seconds} ${changes}`).join(' ');
  };
  return parameter<Bytes>('', read, (value) => value);
}

/** Percentages, written with blanks between. */
export function percentages(initial: Bytes) {
  const read = (words: Bytes): Bytes | BadSetting => {
    for (const word of words.split(' ').filter((each) => each !== '')) {
      const value = parseDouble(word);
      if (value === undefined || value < 0 || value > 100) {
        return new BadSetting('latency-tracking-info-percentiles parameters should sit between [0.0,100.0]');
      }
    }
    return words;
  };
  return parameter<Bytes>(initial, read, (value) => value);
}

function between(value: number, min: number, max: number): number | BadSetting {
  const fits = value >= min && value <= max;
  const most = max === Number.MAX_SAFE_INTEGER ? '9223372036854775807' : max;
  return fits ? value : new BadSetting(`argument must be between ${min} and ${most} inclusive`);
}

/** One of some words. */
export function choice(initial: Bytes, words: readonly Bytes[], fixed: Fixed = false) {
  const why = `argument(s) must be one of the following: ${words.join(', ')}`;
  const read = (value: Bytes): Bytes | BadSetting => {
    const word = asciiLower(value);
    return words.includes(word) ? word : new BadSetting(why);
  };
  return parameter<Bytes>(initial, read, (value) => value, fixed);
}

/** A whole number within bounds. */
export function integer(initial: number, min = 0, max = Number.MAX_SAFE_INTEGER, fixed = false) {
  const read = (text: Bytes): number | BadSetting => {
    const value = parseSafeInteger(text);
    if (value === undefined) return new BadSetting("argument couldn't be parsed into an integer");
    return between(value, min, max);
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

/** A number of bytes, which may be written with a unit. */
export function memory(initial: number, min = 0, max = Number.MAX_SAFE_INTEGER) {
  const read = (text: Bytes): number | BadSetting => {
    const value = parseMemory(text);
    if (value === undefined) return new BadSetting('argument must be a memory value');
    return between(value, min, max);
  };
  return parameter<number>(initial, read, String);
}

/** Yes or no. */
export function flag(initial: boolean, fixed: Fixed = false) {
  const read = (text: Bytes): boolean | BadSetting => {
    const word = asciiLower(text);
    return word === 'yes' ? true : word === 'no' ? false : new BadSetting("argument must be 'yes' or 'no'");
  };
  return parameter<boolean>(initial, read, (value) => (value ? 'yes' : 'no'), fixed);
}

/** Any text. */
export function text(initial: Bytes, fixed: Fixed = false) {
  return parameter<Bytes>(
    initial,
    (value) => value,
    (value) => value,
    fixed,
  );
}

/** Letters of keyspace event classes. */
export function eventClasses() {
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

/** Limits of the output of each class of clients. */
export function outputLimits() {
  const read = (text: Bytes): Bytes | BadSetting => {
    const limits = parseOutputLimits(text);
    return limits instanceof BadSetting ? limits : text;
  };
  const initial = 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60';
  return parameter<Bytes>(initial, read, (value) => value);
}
