/** The options that a node knows. An option that its server does not have is a syntax error. */
import type { Bytes } from '../../protocol/bytes.ts';
import { syntaxOf } from '../commands/syntax/index.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { isServed } from './fit.ts';
import { type Argument, parseSyntax } from './syntax.ts';

/** The options of one node's commands. A command's syntax line is parsed when one of its options is first asked for. */
export class Vocabulary {
  readonly #dialect: Dialect;
  readonly #strict: boolean;
  readonly #known = new Map<string, boolean>();
  readonly #native = new Map<string, boolean>();
  /** True: the options of every server are known, because the stream of a primary is being applied. */
  #every = false;

  constructor(dialect: Dialect, strict: boolean) {
    this.#dialect = dialect;
    this.#strict = strict;
  }

  /** True while the stream of a primary is being applied. */
  get every(): boolean {
    return this.#every;
  }

  /** Runs work that knows the options of every server: a primary of another dialect may use them. */
  withEvery(work: () => void): void {
    this.#every = true;
    try {
      work();
    } finally {
      this.#every = false;
    }
  }

  /**
   * True when the node accepts the option.
   * @param fullName the command, such as 'set' or 'client|kill'
   * @param word the option in capitals
   */
  knows(fullName: string, word: Bytes): boolean {
    if (this.#every) return true;
    return this.#lookUp(this.#known, fullName, word, this.#strict);
  }

  /** True when the option is one of the dialect's server, and no extra. */
  isNative(fullName: string, word: Bytes): boolean {
    return this.#lookUp(this.#native, fullName, word, true);
  }

  #lookUp(all: Map<string, boolean>, fullName: string, word: Bytes, strict: boolean): boolean {
    const place = `${fullName} ${word}`;
    let known = all.get(place);
    if (known === undefined) {
      const { words = '' } = syntaxOf(fullName, this.#dialect);
      known = this.#find(parseSyntax(words), word, strict);
      all.set(place, known);
    }
    return known;
  }

  #find(all: readonly Argument[], word: Bytes, strict: boolean): boolean {
    return all.some((argument) => {
      const { since = '1.0.0', extra = false, token, parts = [] } = argument;
      if (!isServed({ since, extra }, this.#dialect, strict)) return false;
      return token === word || this.#find(parts, word, strict);
    });
  }
}
