/**
 * Describes a statement without its constants and without its place in the text, so that statements can be compared. What decides how a
 * statement is compiled belongs to the description: names that are looked up, numbers that are 0, steps of loops.
 */
import type { CallNode, Constant, Expression, FunctionNode, MethodNode, Statement, Variable } from './ast.ts';

/** So many characters of a name count, from its end. */
const HASHED = 32;

/** The description of one statement at a time. */
export class Outline {
  /*
   * What must be the same for two statements to have the same shape; the constants that may differ, and the nodes that they come
   * from. The arrays keep their length from one statement to the next, because to shorten an array takes longer than to fill it.
   */
  readonly #words: unknown[] = [];
  #size = 0;
  readonly #constants: Constant[] = [];
  readonly #places: object[] = [];
  /** How many constants the statement has. */
  width = 0;
  hash = 0;
  /** The line from which the others of the statement are counted; 0 when nothing has a line. */
  line = 0;
  /** True for a statement that cannot have the shape of another one, because it has tables of its own. */
  isUnique = false;
  /** True for a statement that leaves a loop around it. */
  breaks = false;
  #loops = 0;
  /** The variables that the statement declares. They are known by the order of their declarations. */
  readonly #declared = new Map<Variable, number>();

  /** Describes this statement from now on. */
  trace(statement: Statement): void {
    this.#size = 0;
    this.width = 0;
    this.hash = 0;
    this.line = 0;
    this.isUnique = false;
    this.breaks = false;
    if (this.#declared.size > 0) this.#declared.clear();
    this.#statement(statement);
  }

  /** What this statement must have in common with others of its shape. */
  words(): readonly unknown[] {
    return this.#words.slice(0, this.#size);
  }

  /** True when a statement with these words has the same shape. */
  matches(words: readonly unknown[]): boolean {
    if (words.length !== this.#size) return false;
    for (let i = 0; i < words.length; i++) if (words[i] !== this.#words[i]) return false;
    return true;
  }

  constant(column: number): Constant {
    return this.#constants[column]!;
  }

  /** The nodes with the constants, in the order of the columns. */
  places(): readonly object[] {
    return this.#places.slice(0, this.width);
  }

  #number(word: number): void {
    this.hash = (Math.imul(this.hash, 31) + word) | 0;
    this.#words[this.#size++] = word;
  }

  #text(word: string): void {
    let hash = Math.imul(this.hash, 31) + word.length;
    const { length } = word;
    for (let i = length > HASHED ? length - HASHED : 0; i < length; i++)
      hash = (Math.imul(hash, 31) + word.charCodeAt(i)) | 0;
    this.hash = hash | 0;
    this.#words[this.#size++] = word;
  }

  #line(line: number): void {
    if (this.line === 0) this.line = line;
    this.#number(line - this.line);
  }

  #add(place: object, value: Constant): void {
    this.#constants[this.width] = value;
    this.#places[this.width++] = place;
  }

  #declare(variables: readonly Variable[]): void {
    this.#number(variables.length);
    for (const variable of variables) {
      this.#declared.set(variable, this.#declared.size);
      this.#text(variable.name);
    }
  }

  #variable(variable: Variable): void {
    const own = this.#declared.size === 0 ? undefined : this.#declared.get(variable);
    this.#number(own ?? -variable.id);
  }

  #block(statements: readonly Statement[]): void {
    this.#number(statements.length);
    for (const statement of statements) this.#statement(statement);
  }

  #list(nodes: readonly Expression[]): void {
    this.#number(nodes.length);
    for (const node of nodes) this.#expression(node);
  }

  #statement(node: Statement): void {
    this.#text(node.type);
    switch (node.type) {
      case 'assign':
        this.#line(node.line);
        this.#number(node.targets.length);
        for (const target of node.targets) this.#target(target);
        this.#list(node.values);
        break;
      case 'callStatement':
        this.#call(node.call);
        break;
      case 'do':
        this.#block(node.body);
        break;
      case 'while':
      case 'repeat':
        this.#line(node.line);
        // The condition of a repeat sees the names of its block.
        this.#body(node.body);
        this.#expression(node.condition);
        break;
      case 'if':
        this.#number(node.clauses.length);
        for (const { condition, body } of node.clauses) {
          if (condition === undefined) this.#text('else');
          else this.#expression(condition);
          this.#block(body);
        }
        break;
      case 'local':
        this.#list(node.values);
        this.#declare(node.variables);
        break;
      case 'localFunction':
        this.#declare([node.variable]);
        this.#function(node.body);
        break;
      case 'return':
        this.#list(node.values);
        break;
      case 'break':
        if (this.#loops === 0) this.breaks = true;
        break;
      case 'repeated':
        this.isUnique = true;
        break;
      case 'numericFor':
      case 'genericFor':
        this.#loop(node);
        break;
    }
  }

  #body(statements: readonly Statement[]): void {
    this.#loops++;
    this.#block(statements);
    this.#loops--;
  }

  #loop(node: Statement & { type: 'numericFor' | 'genericFor' }): void {
    this.#line(node.line);
    if (node.type === 'genericFor') {
      this.#list(node.values);
      this.#declare(node.variables);
    } else {
      this.#expression(node.start);
      this.#expression(node.limit);
      if (node.step?.type === 'number') this.#exact(node.step.value);
      else if (node.step !== undefined) this.#expression(node.step);
      this.#declare([node.variable]);
    }
    this.#body(node.body);
  }

  /** A number on which the code depends. */
  #exact(value: number): void {
    this.#text(Object.is(value, -0) ? '-0' : String(value));
  }

  #target(node: Expression): void {
    if (node.type === 'global') {
      this.#text('name');
      this.#add(node, node.name);
    } else if (node.type === 'index' && node.key.type === 'string') {
      this.#text('field');
      this.#expression(node.object);
      this.#add(node.key, node.key.value);
    } else this.#expression(node);
  }

  #expression(node: Expression): void {
    this.#text(node.type);
    switch (node.type) {
      case 'number':
        // A function has one constant for 0 and -0.
        if (node.value === 0) this.#exact(node.value);
        else this.#add(node, node.value);
        break;
      case 'string':
        this.#add(node, node.value);
        break;
      case 'local':
        this.#number(node.upvalue ? 1 : 0);
        this.#variable(node.variable);
        break;
      case 'global':
        this.#line(node.line);
        this.#text(node.name);
        break;
      case 'index':
        this.#line(node.line);
        this.#expression(node.object);
        this.#key(node.key);
        break;
      case 'call':
      case 'method':
        this.#call(node);
        break;
      case 'paren':
        this.#expression(node.inner);
        break;
      case 'function':
        this.#function(node.body);
        break;
      case 'table':
        this.#table(node);
        break;
      case 'and':
      case 'or':
        this.#expression(node.left);
        this.#expression(node.right);
        break;
      case 'binary':
      case 'unary':
        this.#line(node.line);
        this.#text(node.operator);
        this.#expression(node.type === 'unary' ? node.operand : node.left);
        if (node.type === 'binary') this.#expression(node.right);
        break;
    }
  }

  /** The key of an index that is read. Messages name a field, and the library's functions are found by it. */
  #key(key: Expression): void {
    if (key.type === 'string') {
      this.#text('field');
      this.#text(key.value);
      return;
    }
    if (key.type === 'number') this.#number(key.value >= 1 && Number.isInteger(key.value) ? 1 : 0);
    this.#expression(key);
  }

  #table(node: Expression & { type: 'table' }): void {
    this.#line(node.line);
    this.#number(node.items.length);
    for (const { key, value } of node.items) {
      if (key === undefined) this.#text('item');
      else this.#expression(key);
      this.#expression(value);
    }
  }

  #call(node: CallNode | MethodNode): void {
    this.#line(node.line);
    if (node.type === 'method') {
      this.#expression(node.object);
      this.#text(node.name);
    } else this.#expression(node.callee);
    this.#list(node.args);
  }

  #function(node: FunctionNode): void {
    this.#line(node.line);
    this.#number((node.vararg ? 1 : 0) + (node.usesVararg ? 2 : 0) + (node.calls ? 4 : 0));
    this.#number(node.locals);
    this.#declare(node.parameters);
    if (node.arg !== undefined) this.#declare([node.arg]);
    this.#block(node.body);
  }
}
