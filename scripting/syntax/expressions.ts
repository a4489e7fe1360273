/** Parses Lua 5.1 expressions. */
import type { Bytes } from '../../protocol/bytes.ts';
import { power } from '../runtime/values.ts';
import type { BinaryOperator, Expression, FunctionNode, Statement, TableNode, Variable } from './ast.ts';
import { Lexer } from './lexer.ts';
import { Scope } from './scope.ts';

/** Left and right binding powers. `..` and `^` are right-associative. */
const PRIORITY = new Map<string, readonly [number, number]>([
  ['+', [6, 6]],
  ['-', [6, 6]],
  ['*', [7, 7]],
  ['/', [7, 7]],
  ['%', [7, 7]],
  ['^', [10, 9]],
  ['..', [5, 4]],
  ['~=', [3, 3]],
  ['==', [3, 3]],
  ['<', [3, 3]],
  ['<=', [3, 3]],
  ['>', [3, 3]],
  ['>=', [3, 3]],
  ['and', [2, 2]],
  ['or', [1, 1]],
]);
const UNARY_PRIORITY = 8;
const MAX_LEVELS = 200;
const MAX_REGISTERS = 250;
/**
 * The maximum length of a chain, because JavaScript's own parser recurses where Lua's loops. Real scripts stay far
 * below it.
 */
const MAX_CHAIN = 1000;
const MAX_SUFFIXES = 200;

/** Parses expressions. Statements are left to the subclass. */
export abstract class ExpressionParser {
  protected readonly lexer: Lexer;
  protected scope!: Scope;
  #levels = 0;
  #ids = 0;

  constructor(source: Bytes, chunk: Bytes) {
    this.lexer = new Lexer(source, chunk);
  }

  protected abstract block(loop: boolean, tail?: () => void, names?: readonly Variable[]): Statement[];

  protected enter(): void {
    if (++this.#levels > MAX_LEVELS) this.lexer.failPlain('chunk has too many syntax levels');
  }

  protected leave(): void {
    this.#levels--;
  }

  protected limit(count: number, limit: number, what: Bytes): void {
    if (count <= limit) return;
    const line = this.scope.node.line;
    const owner = line === 0 ? 'main function' : `function at line ${line}`;
    this.lexer.failPlain(`${owner} has more than ${limit} ${what}`);
  }

  protected accept(kind: string): boolean {
    if (this.lexer.kind !== kind) return false;
    this.lexer.next();
    return true;
  }

  protected check(kind: string): void {
    if (this.lexer.kind !== kind) this.lexer.fail(`'${kind}' expected`);
  }

  protected expect(kind: string): void {
    this.check(kind);
    this.lexer.next();
  }

  /** Expects the token that closes what was opened on this line. */
  protected closing(kind: string, opener: string, line: number): void {
    if (this.accept(kind)) return;
    const from = line === this.lexer.line ? '' : ` (to close '${opener}' at line ${line})`;
    this.lexer.fail(`'${kind}' expected${from}`);
  }

  protected name(): Bytes {
    this.check('<name>');
    const name = this.lexer.text;
    this.lexer.next();
    return name;
  }

  protected variable(name: Bytes): Variable {
    return this.scope.declare(name, ++this.#ids);
  }

  protected resolve(name: Bytes): Expression {
    const variable = this.scope.find(name);
    if (variable === undefined) return { type: 'global', name, line: this.lexer.lastLine };
    return { type: 'local', variable, upvalue: variable.owner !== this.scope.node };
  }

  protected expressionList(): Expression[] {
    const list = [this.expression()];
    while (this.accept(',')) {
      this.register(list.length);
      list.push(this.expression());
    }
    return list;
  }

  /** Counts registers. Lua keeps the values of a list in registers, and a function has 250. */
  protected register(count: number): void {
    if (this.scope.registers + count >= MAX_REGISTERS) this.lexer.fail('function or expression too complex');
  }

  protected expression(limit = 0): Expression {
    this.enter();
    const { lexer } = this;
    let left: Expression;
    const unary = lexer.kind;
    if (unary === 'not' || unary === '-' || unary === '#') {
      lexer.next();
      const operand = this.expression(UNARY_PRIORITY);
      left = fold({ type: 'unary', operator: unary, operand, line: lexer.lastLine });
    } else left = this.#simple();
    for (let chain = 0; ; chain++) {
      const operator = lexer.kind;
      const priority = PRIORITY.get(operator);
      if (priority === undefined || priority[0] <= limit) break;
      if (chain > MAX_CHAIN) lexer.failPlain('chunk has too many syntax levels');
      lexer.next();
      const right = this.expression(priority[1]);
      left =
        operator === 'and' || operator === 'or'
          ? { type: operator, left, right }
          : fold({ type: 'binary', operator: operator as BinaryOperator, left, right, line: lexer.lastLine });
    }
    this.leave();
    return left;
  }

  #simple(): Expression {
    const { lexer } = this;
    switch (lexer.kind) {
      case '<number>': {
        const value = lexer.number;
        lexer.next();
        return { type: 'number', value };
      }
      case '<string>': {
        const value = lexer.text;
        lexer.next();
        return { type: 'string', value };
      }
      case 'nil':
      case 'true':
      case 'false': {
        const type = lexer.kind;
        lexer.next();
        return { type };
      }
      case '...':
        if (!this.scope.node.vararg) lexer.fail("cannot use '...' outside a vararg function");
        lexer.next();
        this.scope.node.usesVararg = true;
        return { type: 'vararg' };
      case '{':
        return this.#table();
      case 'function':
        lexer.next();
        return { type: 'function', body: this.functionBody(false, lexer.line) };
      default:
        return this.suffixed();
    }
  }

  #primary(): Expression {
    const { lexer } = this;
    if (lexer.kind === '<name>') return this.resolve(this.name());
    if (lexer.kind !== '(') return lexer.fail('unexpected symbol');
    const line = lexer.line;
    lexer.next();
    const inner = this.expression();
    this.closing(')', '(', line);
    return { type: 'paren', inner };
  }

  /** A name or parenthesis, with the fields, indices and calls that follow it. */
  protected suffixed(): Expression {
    const { lexer } = this;
    let left = this.#primary();
    for (let chain = 0; ; chain++) {
      if (chain > MAX_SUFFIXES) lexer.failPlain('chunk has too many syntax levels');
      switch (lexer.kind) {
        case '.': {
          lexer.next();
          const key: Expression = { type: 'string', value: this.name() };
          left = { type: 'index', object: left, key, line: lexer.lastLine };
          break;
        }
        case '[': {
          lexer.next();
          const key = this.expression();
          this.expect(']');
          left = { type: 'index', object: left, key, line: lexer.lastLine };
          break;
        }
        case ':': {
          lexer.next();
          const name = this.name();
          left = { type: 'method', object: left, name, ...this.#arguments() };
          break;
        }
        case '(':
        case '<string>':
        case '{':
          left = { type: 'call', callee: left, ...this.#arguments() };
          break;
        default:
          return left;
      }
    }
  }

  #arguments(): { args: Expression[]; line: number } {
    const { lexer } = this;
    const line = lexer.line;
    this.scope.node.calls = true;
    if (lexer.kind === '<string>') {
      const value = lexer.text;
      lexer.next();
      return { args: [{ type: 'string', value }], line };
    }
    if (lexer.kind === '{') return { args: [this.#table()], line };
    if (lexer.kind !== '(') lexer.fail('function arguments expected');
    if (line !== lexer.lastLine) lexer.fail('ambiguous syntax (function call x new statement)');
    lexer.next();
    this.scope.keep(1);
    const args = lexer.kind === ')' ? [] : this.expressionList();
    this.closing(')', '(', line);
    this.register(args.length);
    this.scope.keep(-1);
    return { args, line };
  }

  #table(): TableNode {
    const { lexer } = this;
    const line = lexer.line;
    const items: TableNode['items'] = [];
    this.expect('{');
    while (lexer.kind !== '}') {
      items.push(this.#field());
      if (!this.accept(',') && !this.accept(';')) break;
    }
    this.closing('}', '{', line);
    return { type: 'table', items, line: lexer.lastLine };
  }

  #field(): TableNode['items'][number] {
    const { lexer } = this;
    let key: Expression | undefined;
    if (lexer.kind === '[') {
      lexer.next();
      key = this.expression();
      this.expect(']');
      this.expect('=');
    } else if (lexer.kind === '<name>' && lexer.peek() === '=') {
      key = { type: 'string', value: this.name() };
      lexer.next();
    }
    return { key, value: this.expression() };
  }

  protected functionBody(method: boolean, line: number): FunctionNode {
    const parent = this.scope;
    const node: FunctionNode = {
      parameters: [],
      vararg: false,
      body: [],
      line,
      parent: parent.node,
      calls: false,
      locals: 0,
      arg: undefined,
      usesVararg: false,
    };
    this.scope = new Scope(this.lexer, node, parent);
    this.expect('(');
    if (method) node.parameters.push(this.variable('self'));
    if (this.lexer.kind !== ')') this.#parameters(node);
    this.expect(')');
    const names = node.arg === undefined ? node.parameters : [...node.parameters, node.arg];
    node.body = this.block(false, undefined, names);
    this.closing('end', 'function', line);
    this.scope = parent;
    return node;
  }

  #parameters(node: FunctionNode): void {
    do {
      if (this.accept('...')) {
        node.vararg = true;
        node.arg = this.variable('arg');
        return;
      }
      if (this.lexer.kind !== '<name>') this.lexer.fail("<name> or '...' expected");
      node.parameters.push(this.variable(this.name()));
    } while (this.accept(','));
  }
}

/** The number that an expression is before any folding, with or without parentheses. */
function literal(node: Expression): number | undefined {
  if (node.type === 'paren') return literal(node.inner);
  return node.type === 'number' ? node.value : undefined;
}

/**
 * Computes with literals as Lua's compiler does, unless the result is not a number. This affects names in errors and
 * the sign of zero.
 */
function fold(node: Expression): Expression {
  if (node.type === 'unary') {
    const { operator, operand } = node;
    if (operator === 'not') return foldNot(node, operand);
    const value = operator === '-' ? literal(operand) : undefined;
    return value === undefined ? node : { type: 'number', value: -value };
  }
  if (node.type !== 'binary') return node;
  const x = literal(node.left);
  const y = literal(node.right);
  if (x === undefined || y === undefined) return node;
  const value = compute(node.operator, x, y);
  return value === undefined || Number.isNaN(value) ? node : { type: 'number', value };
}

function foldNot(node: Expression, operand: Expression): Expression {
  switch (operand.type) {
    case 'paren':
      return foldNot(node, operand.inner);
    case 'nil':
    case 'false':
      return { type: 'true' };
    case 'true':
    case 'number':
    case 'string':
      return { type: 'false' };
    default:
      return node;
  }
}

function compute(operator: BinaryOperator, x: number, y: number): number | undefined {
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return y === 0 ? undefined : x / y;
    case '%':
      return y === 0 ? undefined : x - Math.floor(x / y) * y;
    case '^':
      return power(x, y);
    default:
      return undefined;
  }
}
