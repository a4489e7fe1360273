/** Resolves names to variables, with Lua's limits on locals and upvalues. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { FunctionNode, Variable } from './ast.ts';
import type { Lexer } from './lexer.ts';

const MAX_LOCALS = 200;
const MAX_UPVALUES = 60;

interface Block {
  readonly outer: Block | undefined;
  readonly firstLocal: number;
  readonly loop: boolean;
}

/** The names that a function sees while it is being parsed. */
export class Scope {
  readonly node: FunctionNode;
  readonly outer: Scope | undefined;
  readonly #lexer: Lexer;
  readonly #active: Variable[] = [];
  readonly #upvalues = new Set<Variable>();
  #block: Block | undefined;
  #pending = 0;
  #hidden = 0;
  #kept = 0;

  constructor(lexer: Lexer, node: FunctionNode, outer: Scope | undefined) {
    this.#lexer = lexer;
    this.node = node;
    this.outer = outer;
  }

  open(loop: boolean): void {
    this.#block = { outer: this.#block, firstLocal: this.#active.length, loop };
  }

  close(): void {
    if (this.#active.length > this.#block!.firstLocal) this.#active.length = this.#block!.firstLocal;
    this.#block = this.#block!.outer;
  }

  get inLoop(): boolean {
    let block = this.#block;
    while (block !== undefined && !block.loop) block = block.outer;
    return block !== undefined;
  }

  /** Creates a variable that is not visible yet. */
  declare(name: Bytes, id: number): Variable {
    this.#pending++;
    this.#check(this.#active.length + this.#hidden + this.#pending, MAX_LOCALS, 'local variables');
    this.node.locals++;
    return { id, name, owner: this.node, captured: false, assigned: false };
  }

  /** Counts the hidden variables of a loop, which use registers like any other. */
  hide(count: number): void {
    this.#hidden += count;
    if (count > 0) this.#check(this.#active.length + this.#hidden, MAX_LOCALS, 'local variables');
  }

  /** Counts values that the current call keeps in registers. */
  keep(count: number): void {
    this.#kept += count;
  }

  /** How many registers are in use. */
  get registers(): number {
    return this.#active.length + this.#hidden + this.#kept;
  }

  /** Makes the variables visible under their names. */
  activate(variables: readonly Variable[]): void {
    this.#pending = 0;
    for (const variable of variables) this.#active.push(variable);
  }

  /** The variable that the name refers to here; undefined for a global. */
  find(name: Bytes): Variable | undefined {
    for (let i = this.#active.length - 1; i >= 0; i--) {
      if (this.#active[i]!.name === name) return this.#active[i];
    }
    const variable = this.outer?.find(name);
    if (variable !== undefined && !this.#upvalues.has(variable)) {
      this.#check(this.#upvalues.size + 1, MAX_UPVALUES, 'upvalues');
      this.#upvalues.add(variable);
      variable.captured = true;
    }
    return variable;
  }

  #check(count: number, limit: number, what: Bytes): void {
    if (count <= limit) return;
    const line = this.node.line;
    const owner = line === 0 ? 'main function' : `function at line ${line}`;
    this.#lexer.failPlain(`${owner} has more than ${limit} ${what}`);
  }
}
