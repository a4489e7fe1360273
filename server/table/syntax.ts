/** The notation for a command's arguments, and its parser, which produces the tree for COMMAND DOCS. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { laterSince, type Since } from '../dialects/since.ts';

/**
 * The syntax, history and deprecation of a command. A string stands for `{ words }`.
 *
 * `words` is a syntax line: a list of arguments, separated by spaces.
 *
 * | Notation | Meaning |
 * |---|---|
 * | `value` | a string |
 * | `count:int` | another type: `int`, `double`, `pattern`, `time` (Unix time), `key`, `token` (a literal word, its name) |
 * | `key#0` | a key, and the key specification that finds it |
 * | `NX` | a literal word; `change:CH` if the argument has another name |
 * | `auto_id:'*'` | a literal word that is not in capitals |
 * | `EX=seconds:int` | a value that follows a literal word |
 * | `AUTH=auth/password` | a value that servers with `displayText` show as another text than its name |
 * | `data:{field value}` | a block of arguments |
 * | `where:(LEFT \| RIGHT)` | one of several |
 *
 * `[…]` around an argument makes it optional. These marks can follow an argument: `@7.0.0` (since that version of Redis),
 * `@valkey-8.1.0` (since that version of Valkey), `~` (an extra, which every node serves unless it is strict), `!7.0.0`
 * (deprecated since), `...` (once or several times) and `+++` (the same, with its word each time). Names that contain other
 * characters are written in double quotes.
 */
export interface Syntax {
  readonly words?: string;
  /** What changed, oldest first, such as `6.2.0 Takes a count.` */
  readonly history?: readonly string[];
  /** The version that deprecated it, and what to use instead, such as '6.2.0 `LMOVE`'. */
  readonly deprecated?: string;
  /** The complexity and the first version, if they are not those of the command's entry. '' stands for none. */
  readonly complexity?: string;
  readonly introduced?: string;
  /** True for commands that servers and tests use internally. */
  readonly system?: boolean;
  /** What later versions say otherwise, oldest first. A history is added to what is there. */
  readonly changes?: readonly SyntaxChange[];
}

/** What a version changed of a command's syntax; `deprecated: ''` takes a deprecation back. */
export interface SyntaxChange extends Omit<Syntax, 'changes'> {
  readonly since: Since;
}

/** The syntax of several commands, by name. */
export type SyntaxTable = Readonly<Record<string, string | Syntax>>;

/** A type of argument, as COMMAND DOCS names it. */
export type ArgumentType =
  | 'string'
  | 'integer'
  | 'double'
  | 'key'
  | 'pattern'
  | 'unix-time'
  | 'pure-token'
  | 'oneof'
  | 'block';

/** One argument of a command. */
export interface Argument {
  readonly name: Bytes;
  readonly type: ArgumentType;
  /** The text to show for it, if it is not the name. */
  readonly display?: Bytes;
  /** The key specification that finds this argument, counted from 0. */
  readonly keySpec?: number;
  /** The literal word in the request: it precedes the value, or is the whole argument if that is a pure token. */
  readonly token?: Bytes;
  readonly since?: Since;
  /** True for what we serve in every dialect, unless the node is strict. */
  readonly extra?: boolean;
  readonly deprecatedSince?: Bytes;
  readonly optional?: boolean;
  readonly multiple?: boolean;
  /** True if the token precedes each of several values. */
  readonly repeatsToken?: boolean;
  /** The parts of a block, or the choices of a oneof. */
  readonly parts?: readonly Argument[];
}

const TYPES: ReadonlyMap<string, ArgumentType> = new Map([
  ['int', 'integer'],
  ['double', 'double'],
  ['key', 'key'],
  ['pattern', 'pattern'],
  ['time', 'unix-time'],
  ['token', 'pure-token'],
]);

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A name, a word in capitals or quotes, a repetition mark, a version, or a single sign. */
const LEXEME =
  /[ \n]*("[^"]+"|'[^']*'|\.\.\.|\+\+\+|valkey-\d+(?:\.\d+)*|[A-Z][A-Z0-9_-]*|[a-z][a-z0-9_-]*|\d+(?:\.\d+)*|[[\](){}|=:#@!~/])/y;

class SyntaxReader {
  readonly #text: string;
  readonly #lexemes: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    LEXEME.lastIndex = 0;
    let end = 0;
    for (let match = LEXEME.exec(text); match !== null; match = LEXEME.exec(text)) {
      this.#lexemes.push(match[1] as string);
      end = LEXEME.lastIndex;
    }
    if (end < text.length) this.#fail(`nothing can be read at ${end}`);
  }

  /** Reads arguments up to a closing sign; '' stands for the end of the text. */
  sequence(end: string): Argument[] {
    const all: Argument[] = [];
    while (this.#peek() !== end) all.push(this.#item());
    this.#at++;
    return all;
  }

  #choices(): Argument[] {
    const all = [this.#item()];
    while (this.#accept('|')) all.push(this.#item());
    this.#expect(')');
    return all;
  }

  #item(): Argument {
    if (!this.#accept('[')) return this.#argument();
    const inner = this.#argument();
    this.#expect(']');
    return { ...inner, optional: true };
  }

  #argument(): Argument {
    const token = this.#word();
    const made: Mutable<Argument> =
      token === undefined
        ? this.#value()
        : this.#accept('=')
          ? { ...this.#value(), token }
          : { name: asciiLower(token), type: 'pure-token', token };
    this.#marks(made);
    return made;
  }

  #value(): Mutable<Argument> {
    const name = this.#name();
    if (!this.#accept(':')) return { name, type: 'string' };
    if (this.#accept('{')) return { name, type: 'block', parts: this.sequence('}') };
    if (this.#accept('(')) return { name, type: 'oneof', parts: this.#choices() };
    const token = this.#word();
    if (token !== undefined) return { name, type: 'pure-token', token };
    const type = this.#next();
    return { name, type: TYPES.get(type) ?? this.#fail(`there is no type '${type}'`) };
  }

  #name(): string {
    const next = this.#next();
    if (!/^["a-z]/.test(next)) this.#fail(`expected a name, not '${next}'`);
    return next.startsWith('"') ? next.slice(1, -1) : next;
  }

  #marks(made: Mutable<Argument>): void {
    for (;;) {
      if (this.#accept('/')) {
        made.display = this.#name();
      } else if (this.#accept('#')) {
        made.keySpec = +this.#next();
        if (made.type === 'string') made.type = 'key';
      } else if (this.#accept('@')) made.since = laterSince(made.since, this.#next());
      else if (this.#accept('~')) made.extra = true;
      else if (this.#accept('!')) made.deprecatedSince = this.#next();
      else if (this.#accept('...')) made.multiple = true;
      else if (this.#accept('+++')) made.multiple = made.repeatsToken = true;
      else return;
    }
  }

  /** Reads a literal word, if one is next. */
  #word(): Bytes | undefined {
    const next = this.#peek();
    if (!/^['A-Z]/.test(next)) return undefined;
    this.#at++;
    return next.startsWith("'") ? next.slice(1, -1) : next;
  }

  #peek(): string {
    return this.#lexemes[this.#at] ?? '';
  }

  #next(): string {
    return this.#lexemes[this.#at++] ?? this.#fail('it ends too early');
  }

  #accept(lexeme: string): boolean {
    if (this.#peek() !== lexeme) return false;
    this.#at++;
    return true;
  }

  #expect(lexeme: string): void {
    if (!this.#accept(lexeme)) this.#fail(`expected '${lexeme}', not '${this.#peek()}'`);
  }

  #fail(why: string): never {
    throw new SyntaxError(`cannot read the syntax line '${this.#text}': ${why}`);
  }
}

/** Parses a syntax line. Throws SyntaxError if it does not follow the notation. */
export function parseSyntax(words: string): Argument[] {
  return new SyntaxReader(words).sequence('');
}
