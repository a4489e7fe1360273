/** The base of the code generator: numbered names for constants, places and temporaries. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Naming, Site } from '../runtime/site.ts';
import { hashString, type StringHash } from '../runtime/table.ts';
import type { LuaFunction, LuaTable, LuaValue } from '../runtime/values.ts';
import type { Expression, FunctionNode, StatementShape, Variable } from '../syntax/ast.ts';
import { chunkName } from '../syntax/chunk-name.ts';
import type { Slots } from './slots.ts';

/** 'fast': plain functions. 'resumable': generators, which yield every call and can pause in any loop. */
export type Form = 'fast' | 'resumable';

/** What the compiler knows about an expression's value. */
export type ValueKind = 'number' | 'string' | 'boolean' | 'table' | 'function' | 'any';

/** What the compiler knows about the library that scripts see. */
export interface Library {
  /** How its tables hash strings. */
  readonly stringHash: StringHash;
  readonly globals: LuaTable;
  /** True when the globals never change and include KEYS and ARGV, as for scripts. */
  readonly steady: boolean;
  /** The functions that strings have as methods. */
  readonly strings: LuaTable;
  /** Functions that always return exactly one value at once. */
  readonly single: ReadonlySet<LuaFunction>;
  /** For some functions, a variant to call when the result is not used. */
  readonly discarding: ReadonlyMap<LuaFunction, LuaFunction>;
}

/** A function whose source is being written. */
export interface FunctionFrame {
  readonly node: FunctionNode;
  temps: number;
  readonly spare: string[];
  /** How many places allocate something in each run of the function, or of the loop that is being written. */
  sites: number;
  /** How many loop counters and other variables were declared in blocks. */
  blocks: number;
  /** In how many places the resumable form yields. */
  yields: number;
  /** How the first zero of the function is written. */
  zero: string | undefined;
  /** Where the variables of blocks are kept, in a function that has very many of them. */
  readonly slots: Slots | undefined;
}

/** The statements of one shape, for which one source is being written. */
export interface Repeating {
  readonly shape: StatementShape;
  /** The variable with the number of the statement among those of its shape. */
  readonly row: string;
  /** The variables that keep the places of a statement, by what the places are. */
  readonly sites: Map<string, string>;
}

/** The string in the form of JavaScript property names, which are compared by address. */
function internalized(text: Bytes): Bytes {
  for (const name in { [text]: 0 }) return name;
  return text;
}

/**
 * The expression that Lua's compiler leaves: it removes a constant before `and` or `or` that does not affect the
 * result.
 */
function reduced(node: Expression): Expression {
  if (node.type === 'paren') return reduced(node.inner);
  if (node.type !== 'and' && node.type !== 'or') return node;
  const left = reduced(node.left);
  return isConstant(left) && isTruthy(left) === (node.type === 'and') ? reduced(node.right) : node;
}

function isConstant(node: Expression): boolean {
  return ['nil', 'false', 'true', 'string'].includes(node.type) || isNumeral(node);
}

/** True for a number, or an operation on numbers that Lua computes at compile time: all except division by zero. */
function isNumeral(node: Expression): boolean {
  switch (node.type) {
    case 'number':
      return true;
    case 'paren':
      return isNumeral(node.inner);
    case 'unary':
      return node.operator === '-' && isNumeral(node.operand);
    case 'binary':
      if (!isNumeral(node.left) || !isNumeral(node.right)) return false;
      return FOLDED.has(node.operator) || ('/%'.includes(node.operator) && !isZero(node.right));
    default:
      return false;
  }
}

const FOLDED: ReadonlySet<string> = new Set(['+', '-', '*', '^']);

function isZero(node: Expression): boolean {
  return node.type === 'paren' ? isZero(node.inner) : node.type === 'number' && node.value === 0;
}

function isTruthy(node: Expression): boolean {
  return node.type !== 'nil' && node.type !== 'false';
}

/** The first half of `x and y or z`, or of `(x or y) and z`. */
function isOpposite(node: Expression, type: 'and' | 'or'): boolean {
  if (node.type === 'paren') return isOpposite(node.inner, type);
  return (node.type === 'and' || node.type === 'or') && node.type !== type;
}

/** Collects constants and assigns names. No byte of a script's text enters the source. */
export class Emitter {
  readonly constants: unknown[] = [];
  protected readonly form: Form;
  protected readonly library: Library;
  readonly #chunk: Pick<Site, 'chunk' | 'source'>;
  protected frame!: FunctionFrame;
  protected readonly kinds = new Map<Variable, ValueKind>();
  readonly #strings = new Map<Bytes, string>();
  readonly #values = new Map<unknown, string>();
  readonly #sites = new Map<string, string>();
  /** The names of variables that are kept in slots. */
  protected readonly names = new Map<Variable, string>();
  protected repeating: Repeating | undefined;

  /** @param source the chunk's name, such as `@user_script` */
  constructor(form: Form, library: Library, source: Bytes) {
    this.form = form;
    this.library = library;
    this.#chunk = { source, chunk: chunkName(source) };
  }

  protected constant(value: unknown): string {
    const known = this.#values.get(value);
    if (known !== undefined) return known;
    const name = `k${this.constants.push(value) - 1}`;
    this.#values.set(value, name);
    return name;
  }

  protected string(value: Bytes): string {
    const known = this.#strings.get(value);
    if (known !== undefined) return known;
    const name = `k${this.constants.push(internalized(value)) - 1}`;
    this.#strings.set(value, name);
    return name;
  }

  protected hash(value: Bytes): string {
    return `${hashString(value)}`;
  }

  protected number(value: number): string {
    // As in Lua 5.1, a function has one constant for 0 and -0, the one that is written first.
    if (value === 0) {
      this.frame.zero ??= Object.is(value, -0) ? '(-0)' : '0';
      return this.frame.zero;
    }
    return value < 0 ? `(${value})` : `${value}`;
  }

  /** Source of a constant that differs among the statements of a shape. Undefined when it does not. */
  protected column(node: object): string | undefined {
    const at = this.repeating?.shape.places.get(node);
    if (at === undefined) return undefined;
    const { values } = this.repeating!.shape.columns[at]!;
    return values && `${this.constant(values)}[${this.repeating!.row}]`;
  }

  protected site(line: number, left: Naming = '', right: Naming = ''): string {
    return this.repeating?.shape.lines === undefined
      ? this.#constantSite(line, left, right)
      : this.#repeatedSite(this.repeating, line, left, right);
  }

  /** Source of a place whose line is computed when the place is first needed. */
  #repeatedSite({ shape, row, sites }: Repeating, line: number, left: Naming, right: Naming): string {
    const id = `${line} ${left} ${right}`;
    let name = sites.get(id);
    if (name === undefined) sites.set(id, (name = `z${row}_${sites.size}`));
    const first = `${this.constant(shape.lines)}[${row}]`;
    return `(${name} ??= R.siteAt(${first} + ${line - shape.line}, ${this.#constantSite(0, left, right)}))`;
  }

  #constantSite(line: number, left: Naming, right: Naming): string {
    const id = `${line} ${left} ${right}`;
    const known = this.#sites.get(id);
    if (known !== undefined) return known;
    const site: Site = { line, ...this.#chunk, left, right };
    const name = this.constant(site);
    this.#sites.set(id, name);
    return name;
  }

  protected temp(): string {
    return this.frame.spare.pop() ?? `t${++this.frame.temps}`;
  }

  protected release(...temps: string[]): void {
    this.frame.spare.push(...temps.filter((temp) => temp !== ''));
  }

  protected nameOf(variable: Variable): string {
    return this.names.get(variable) ?? `v${variable.id}`;
  }

  /** The word before the declaration of a variable that no inner function uses: none, when it is kept in a slot. */
  protected get let(): 'let ' | '' {
    return this.frame.slots === undefined ? 'let ' : '';
  }

  /** Gives a variable its name. Returns the word that declares it. */
  protected place(variable: Variable): 'let ' | '' {
    if (this.frame.slots === undefined || variable.captured) return 'let ';
    this.names.set(variable, this.frame.slots.take());
    return '';
  }

  /** The name of a variable that only the compiler uses. */
  protected hidden(name: string): string {
    return this.frame.slots?.take() ?? name;
  }

  /** In the resumable form, runs a call's frame first. */
  protected settled(code: string): string {
    if (this.form === 'fast') return code;
    this.frame.yields++;
    const temp = this.temp();
    this.release(temp);
    return `(R.isFrame(${temp} = ${code}) ? yield ${temp} : ${temp})`;
  }

  /** True for KEYS and ARGV. */
  protected isArgument(name: Bytes): boolean {
    return this.library.steady && (name === 'KEYS' || name === 'ARGV');
  }

  /** The value of a global that a script cannot change; undefined when it is not known. */
  protected fixedGlobal(name: Bytes): LuaValue {
    return this.isArgument(name) || !this.library.steady ? undefined : this.library.globals.get(name);
  }

  /** The value of an expression that names a library value, such as `redis.call`. */
  protected fixed(node: Expression): LuaValue {
    if (node.type === 'global') return this.fixedGlobal(node.name);
    if (node.type !== 'index' || node.object.type !== 'global' || node.key.type !== 'string')
      return undefined;
    const table = this.fixedGlobal(node.object.name);
    if (typeof table !== 'object' || !('readonly' in table) || !table.readonly) return undefined;
    return node.object.name === '_G' ? undefined : table.get(node.key.value);
  }

  /** How messages name the thing that an expression refers to. */
  protected naming(node: Expression): Naming {
    switch (node.type) {
      case 'local':
        return `${node.upvalue ? 'upvalue' : 'local'} '${node.variable.name}'`;
      case 'global':
        return `global '${node.name}'`;
      case 'index':
        return `field '${node.key.type === 'string' ? node.key.value : '?'}'`;
      case 'paren':
        return this.naming(node.inner);
      case 'and':
      case 'or': {
        // Lua looks for the instruction that loaded the value, and follows the first jump before it.
        const left = reduced(node.left);
        const passes = isConstant(left) && isTruthy(left) === (node.type === 'and');
        return passes || isOpposite(left, node.type) ? this.naming(node.right) : '';
      }
      default:
        return '';
    }
  }

  protected kindOf(node: Expression): ValueKind {
    switch (node.type) {
      case 'number':
      case 'string':
      case 'table':
      case 'function':
        return node.type;
      case 'true':
      case 'false':
        return 'boolean';
      case 'local':
        return this.kinds.get(node.variable) ?? 'any';
      case 'global':
        return this.isArgument(node.name) ? 'table' : 'any';
      case 'paren':
        return this.kindOf(node.inner);
      case 'unary':
        if (node.operator === 'not') return 'boolean';
        return node.operator === '#' || this.kindOf(node.operand) === 'number' ? 'number' : 'any';
      case 'binary':
        if (node.operator === '..')
          return this.#joins(node.left) && this.#joins(node.right) ? 'string' : 'any';
        if ('+-*/%^'.includes(node.operator)) return this.#sameKind(node.left, node.right);
        return 'boolean';
      default:
        return 'any';
    }
  }

  #sameKind(left: Expression, right: Expression): ValueKind {
    return this.kindOf(left) === 'number' && this.kindOf(right) === 'number' ? 'number' : 'any';
  }

  #joins(node: Expression): boolean {
    const kind = this.kindOf(node);
    return kind === 'string' || kind === 'number';
  }

  /** True for an expression that may be written twice: a constant, or a variable that does not change in between. */
  protected isSimple(node: Expression): boolean {
    switch (node.type) {
      case 'nil':
      case 'true':
      case 'false':
      case 'number':
      case 'string':
        return true;
      case 'local':
        return !node.upvalue || !node.variable.assigned;
      default:
        return false;
    }
  }

  /** True for an expression that cannot run any code of the script or of the library. */
  protected isQuiet(node: Expression): boolean {
    switch (node.type) {
      case 'call':
      case 'method':
        return false;
      case 'index':
        return this.isQuiet(node.object) && this.isQuiet(node.key);
      case 'binary':
      case 'and':
      case 'or':
        return this.isQuiet(node.left) && this.isQuiet(node.right);
      case 'unary':
        return this.isQuiet(node.operand);
      case 'paren':
        return this.isQuiet(node.inner);
      case 'table':
        return node.items.every((item) => this.isQuiet(item.value) && (!item.key || this.isQuiet(item.key)));
      default:
        return true;
    }
  }
}
