/** The parameter client-output-buffer-limit: how much may wait for a client of each class. */
import { asciiLower, type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import { BadSetting, parameter, parseMemory } from './parameters.ts';

/** The classes of clients with separate output limits. */
export const OUTPUT_CLASSES = ['normal', 'slave', 'pubsub'] as const;
/** A class of clients with its own output limit. */
export type OutputClass = (typeof OUTPUT_CLASSES)[number];

/** The output limit of a class, in bytes and seconds; 0: no limit. */
export interface OutputLimit {
  readonly hard: number;
  readonly soft: number;
  readonly seconds: number;
}

/** Reads client-output-buffer-limit: groups of `class hard soft seconds`. */
export function parseOutputLimits(text: Bytes): Map<OutputClass, OutputLimit> | BadSetting {
  const words = text === '' ? [] : text.split(' ');
  if (words.length % 4 !== 0) {
    return new BadSetting('Wrong number of arguments in buffer limit configuration.');
  }
  const limits = new Map<OutputClass, OutputLimit>();
  for (let at = 0; at < words.length; at += 4) {
    const [name = '', hardText = '', softText = '', secondsText = ''] = words.slice(at, at + 4);
    const lower = asciiLower(name);
    const which = lower === 'replica' ? 'slave' : OUTPUT_CLASSES.find((each) => each === lower);
    if (which === undefined) {
      return new BadSetting('Invalid client class specified in buffer limit configuration.');
    }
    const hard = parseMemory(hardText);
    const soft = parseMemory(softText);
    const seconds = parseSafeInteger(secondsText) ?? -1;
    if (hard === undefined || soft === undefined || seconds < 0) {
      return new BadSetting('Error in hard, soft or soft_seconds setting in buffer limit configuration.');
    }
    limits.set(which, { hard, soft, seconds });
  }
  return limits;
}

/** The output limits of Redis, as CONFIG GET prints them. */
export const OUTPUT_LIMITS = 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60';
let usualLimits: ReadonlyMap<OutputClass, OutputLimit> | undefined;

/** The output limits that apply where the configuration names none for a class. */
export function defaultOutputLimits(): Map<OutputClass, OutputLimit> {
  if (usualLimits === undefined) {
    const limits = parseOutputLimits(OUTPUT_LIMITS);
    usualLimits = limits instanceof BadSetting ? new Map() : limits;
  }
  return new Map(usualLimits);
}

/** Declares the output limits of each class of clients. */
export function outputLimits() {
  const read = (text: Bytes): Bytes | BadSetting => {
    const limits = parseOutputLimits(text);
    return limits instanceof BadSetting ? limits : text;
  };
  return parameter<Bytes>(OUTPUT_LIMITS, read, (value) => value);
}
