/** Reads the arguments of LAB: names, numbers, and options in any order. */
import { asciiUpper, type Bytes, fromText, parseDouble, toBuffer } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import type { Amount } from '../links/gate.ts';

/** The text of a word. */
export function textOf(word: Bytes): string {
  return toBuffer(word).toString();
}

/** A number in decimal notation. Throws Redis' error for anything else. */
export function numberOf(word: Bytes): number {
  return parseDouble(word) ?? fail('ERR value is not a valid float');
}

/** The number that may stand last, or nothing. Throws Redis' error if more words follow. */
export function lastNumber(command: string, words: readonly Bytes[]): [] | [number] {
  if (words.length > 1) fail(`ERR wrong number of arguments for 'lab|${command}' command`);
  return words.map(numberOf) as [] | [number];
}

/** The options behind the fixed arguments. A word without a value stands for true. */
export class LabArguments {
  readonly #found = new Map<string, Bytes | true>();

  /**
   * Throws a syntax error for a word that is not among the options, or that lacks its value.
   * @param valued the options that have a value
   * @param bare the options that have none
   */
  constructor(words: readonly Bytes[], valued: readonly string[], bare: readonly string[] = []) {
    for (let at = 0; at < words.length; at++) {
      const name = asciiUpper(words[at] ?? '');
      if (this.#found.has(name)) fail(SYNTAX);
      if (bare.includes(name)) this.#found.set(name, true);
      else if (valued.includes(name)) this.#found.set(name, words[++at] ?? fail(SYNTAX));
      else fail(SYNTAX);
    }
  }

  /** Whether the option was given. */
  has(name: string): boolean {
    return this.#found.has(name);
  }

  /** The option's value as text; undefined if it was not given. */
  text(name: string): string | undefined {
    const value = this.#found.get(name);
    return value === undefined || value === true ? undefined : textOf(value);
  }

  /** The option's value as a number; undefined if it was not given. Throws Redis' error for anything else. */
  number(name: string): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : numberOf(fromText(value));
  }
}

/** How much RELEASE is to deliver. */
export function amountOf(words: readonly Bytes[]): Amount | undefined {
  const options = new LabArguments(words, ['MESSAGES', 'BYTES']);
  const [messages, bytes] = [options.number('MESSAGES'), options.number('BYTES')];
  if (messages !== undefined && bytes !== undefined) fail(SYNTAX);
  if (messages !== undefined) return { messages };
  return bytes === undefined ? undefined : { bytes };
}
