/** Parses Lua 5.1 statements in one pass with one token of look-ahead, so that errors read as in Redis. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Expression, FunctionNode, Statement, Variable } from './ast.ts';
import { ExpressionParser } from './expressions.ts';
import { StatementList } from './repeats.ts';
import { Scope } from './scope.ts';

const BLOCK_END = new Set(['else', 'elseif', 'end', '<eof>', 'until']);

class Parser extends ExpressionParser {
  chunk(): FunctionNode {
    const node: FunctionNode = {
      parameters: [],
      vararg: true,
      body: [],
      line: 0,
      parent: undefined,
      calls: false,
      locals: 0,
      arg: undefined,
      usesVararg: false,
    };
    this.scope = new Scope(this.lexer, node, undefined);
    this.lexer.next();
    node.body = this.block(false);
    this.check('<eof>');
    return node;
  }

  /** Parses a block up to the token that ends it. @param tail reads on while the block's names are still visible */
  protected override block(loop: boolean, tail?: () => void, names?: readonly Variable[]): Statement[] {
    const { lexer, scope } = this;
    const block = new StatementList();
    scope.open(loop);
    if (names !== undefined) scope.activate(names);
    this.enter();
    for (let last = false; !last && !BLOCK_END.has(lexer.kind); ) {
      const { tokens } = lexer;
      const statement = this.#statement();
      last = statement.type === 'return' || statement.type === 'break';
      this.accept(';');
      if (block.add(statement)) lexer.forget(tokens);
    }
    this.leave();
    tail?.();
    scope.close();
    return block.statements;
  }

  #statement(): Statement {
    const line = this.lexer.line;
    switch (this.lexer.kind) {
      case 'if':
        return this.#if(line);
      case 'while':
        return this.#while(line);
      case 'do': {
        this.lexer.next();
        const body = this.block(false);
        this.closing('end', 'do', line);
        return { type: 'do', body };
      }
      case 'for':
        return this.#for(line);
      case 'repeat':
        return this.#repeat(line);
      case 'function':
        return this.#function(line);
      case 'local':
        this.lexer.next();
        return this.accept('function') ? this.#localFunction() : this.#local();
      case 'return':
        return this.#return();
      case 'break':
        this.lexer.next();
        if (!this.scope.inLoop) this.lexer.fail('no loop to break');
        return { type: 'break' };
      default:
        return this.#expressionStatement();
    }
  }

  #if(line: number): Statement {
    const clauses: { condition: Expression | undefined; body: Statement[] }[] = [];
    do {
      this.lexer.next();
      const condition = this.expression();
      this.expect('then');
      clauses.push({ condition, body: this.block(false) });
    } while (this.lexer.kind === 'elseif');
    if (this.accept('else')) clauses.push({ condition: undefined, body: this.block(false) });
    this.closing('end', 'if', line);
    return { type: 'if', clauses };
  }

  #while(line: number): Statement {
    this.lexer.next();
    const condition = this.expression();
    this.expect('do');
    const body = this.block(true);
    this.closing('end', 'while', line);
    return { type: 'while', condition, body, line };
  }

  #repeat(line: number): Statement {
    this.lexer.next();
    let condition: Expression = { type: 'nil' };
    const body = this.block(true, () => {
      this.closing('until', 'repeat', line);
      condition = this.expression();
    });
    return { type: 'repeat', condition, body, line };
  }

  #for(line: number): Statement {
    this.lexer.next();
    const name = this.name();
    if (this.lexer.kind === '=') return this.#numericFor(name, line);
    if (this.lexer.kind === ',' || this.lexer.kind === 'in') return this.#genericFor(name, line);
    return this.lexer.fail("'=' or 'in' expected");
  }

  #numericFor(name: Bytes, line: number): Statement {
    this.scope.hide(3);
    const variable = this.variable(name);
    this.lexer.next();
    const start = this.expression();
    this.expect(',');
    const limit = this.expression();
    const step = this.accept(',') ? this.expression() : undefined;
    this.expect('do');
    const prepared = this.lexer.lastLine;
    const body = this.block(true, undefined, [variable]);
    this.closing('end', 'for', line);
    this.scope.hide(-3);
    return { type: 'numericFor', variable, start, limit, step, body, line: prepared };
  }

  #genericFor(first: Bytes, line: number): Statement {
    this.scope.hide(3);
    const variables = [this.variable(first)];
    while (this.accept(',')) variables.push(this.variable(this.name()));
    this.expect('in');
    const values = this.expressionList();
    this.expect('do');
    const body = this.block(true, undefined, variables);
    this.closing('end', 'for', line);
    this.scope.hide(-3);
    this.scope.node.calls = true;
    return { type: 'genericFor', variables, values, body, line };
  }

  #function(line: number): Statement {
    this.lexer.next();
    let target: Expression = this.resolve(this.name());
    let method = false;
    while (!method && (this.lexer.kind === '.' || this.lexer.kind === ':')) {
      method = this.lexer.kind === ':';
      this.lexer.next();
      target = {
        type: 'index',
        object: target,
        key: { type: 'string', value: this.name() },
        line: this.lexer.lastLine,
      };
    }
    const body = this.functionBody(method, line);
    if (target.type === 'local') target.variable.assigned = true;
    return { type: 'assign', targets: [target], values: [{ type: 'function', body }], line };
  }

  #localFunction(): Statement {
    const variable = this.variable(this.name());
    this.scope.activate([variable]);
    return { type: 'localFunction', variable, body: this.functionBody(false, this.lexer.line) };
  }

  #local(): Statement {
    const variables: Variable[] = [];
    do variables.push(this.variable(this.name()));
    while (this.accept(','));
    const values = this.accept('=') ? this.expressionList() : [];
    this.scope.activate(variables);
    return { type: 'local', variables, values };
  }

  #return(): Statement {
    this.lexer.next();
    const empty = BLOCK_END.has(this.lexer.kind) || this.lexer.kind === ';';
    const values = empty ? [] : this.expressionList();
    if (values.length > 1) this.register(values.length);
    return { type: 'return', values };
  }

  #expressionStatement(): Statement {
    const first = this.suffixed();
    if (first.type === 'call' || first.type === 'method') return { type: 'callStatement', call: first };
    const targets: Expression[] = [first];
    for (;;) {
      const target = targets[targets.length - 1]!;
      if (target.type !== 'local' && target.type !== 'global' && target.type !== 'index') {
        this.lexer.fail('syntax error');
      }
      if (target.type === 'local') target.variable.assigned = true;
      if (!this.accept(',')) break;
      targets.push(this.suffixed());
      this.limit(targets.length, 200, 'variables in assignment');
    }
    this.expect('=');
    const values = this.expressionList();
    return { type: 'assign', targets, values, line: this.lexer.lastLine };
  }
}

/**
 * Parses a chunk.
 * @param chunk the chunk's name in messages, such as `user_script`
 * @throws LuaSyntaxError with Lua 5.1's text
 */
export function parse(source: Bytes, chunk: Bytes): FunctionNode {
  if (last?.source === source && last.chunk === chunk) return last.tree;
  const tree = new Parser(source, chunk).chunk();
  last = source.length > KEPT_MAX ? undefined : { source, chunk, tree };
  return tree;
}

/** Longer chunks are not kept. */
const KEPT_MAX = 4096;
/** The last chunk that was parsed: it is looked at when it is loaded, and compiled then or when it is first run. */
let last: { readonly source: Bytes; readonly chunk: Bytes; readonly tree: FunctionNode } | undefined;
