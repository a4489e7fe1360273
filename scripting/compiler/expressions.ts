/** Writes Lua expressions as JavaScript expressions. */
import type { CallNode, Expression, IndexNode, MethodNode, TableNode } from '../syntax/ast.ts';
import { chainOf, OperatorEmitter } from './operators.ts';

/** Writes expressions. Functions are left to the subclass. */
export abstract class ExpressionEmitter extends OperatorEmitter {
  protected abstract functionSource(node: Expression & { type: 'function' }): string;

  /** Source whose value is exactly one Lua value. */
  protected override value(node: Expression): string {
    switch (node.type) {
      case 'nil':
        return 'undefined';
      case 'true':
      case 'false':
        return node.type;
      case 'number':
        return this.column(node) ?? this.number(node.value);
      case 'string':
        return this.column(node) ?? this.string(node.value);
      case 'vararg':
        return 'V[0]';
      case 'local':
        return this.nameOf(node.variable);
      case 'global':
        return this.#global(node.name, node.line);
      case 'index':
        return this.#index(node);
      case 'call':
      case 'method':
        return this.#single(node);
      case 'paren':
        return this.value(node.inner);
      case 'function':
        return this.functionSource(node);
      case 'table':
        return this.#table(node);
      case 'and':
      case 'or':
        return this.logic(node);
      case 'binary':
        return this.binary(node);
      case 'unary':
        return this.unary(node);
    }
  }

  #global(name: string, line: number): string {
    if (this.isArgument(name)) return name === 'KEYS' ? 'S.keys' : 'S.argv';
    const fixed = this.fixedGlobal(name);
    if (typeof fixed === 'string') return this.string(fixed);
    if (fixed !== undefined) return this.constant(fixed);
    const globals = this.constant(this.library.globals);
    return this.settled(`R.index(${globals}, ${this.string(name)}, ${this.site(line)})`);
  }

  #index(node: IndexNode): string {
    const fixed = this.fixed(node);
    if (typeof fixed === 'string') return this.string(fixed);
    if (fixed !== undefined) return this.constant(fixed);
    const { key } = node;
    const site = this.site(node.line, this.naming(node.object));
    if (node.object.type === 'global' && this.isArgument(node.object.name) && isPlace(key)) {
      const read = node.object.name === 'KEYS' ? 'R.keyAt' : 'R.argumentAt';
      return this.settled(`${read}(${this.value(key)}, ${site})`);
    }
    const object = this.value(node.object);
    if (key.type === 'string') {
      return this.settled(
        `R.indexString(${object}, ${this.string(key.value)}, ${this.hash(key.value)}, ${site})`,
      );
    }
    const way = this.kindOf(key) === 'number' ? 'indexNumber' : 'index';
    return this.settled(`R.${way}(${object}, ${this.value(key)}, ${site})`);
  }

  /** Source of a condition: a JavaScript boolean. */
  protected override condition(node: Expression): string {
    switch (node.type) {
      case 'nil':
        return 'false';
      case 'number':
      case 'string':
      case 'table':
      case 'function':
        return node.type === 'table' ? `(${this.value(node)}, true)` : 'true';
      case 'paren':
        return this.condition(node.inner);
      case 'and':
      case 'or': {
        const operands = chainOf(node).map((operand) => this.condition(operand));
        return `(${operands.join(node.type === 'and' ? ' && ' : ' || ')})`;
      }
      case 'unary':
        if (node.operator === 'not') return `!${this.condition(node.operand)}`;
    }
    if (this.kindOf(node) === 'boolean') return this.value(node);
    if (this.isSimple(node)) {
      const code = this.value(node);
      return `(${code} !== undefined && ${code} !== false)`;
    }
    const code = this.value(node);
    const temp = this.temp();
    this.release(temp);
    return `((${temp} = ${code}) !== undefined && ${temp} !== false)`;
  }

  #single(node: CallNode | MethodNode): string {
    const code = this.call(node);
    const fixed = node.type === 'call' ? this.fixed(node.callee) : undefined;
    if (typeof fixed === 'function' && this.library.single.has(fixed)) return code;
    const temp = this.temp();
    this.release(temp);
    return `(isArray(${temp} = ${code}) ? ${temp}[0] : ${temp})`;
  }

  /** Source of a call. Its value is a result: one value, or an array of values. */
  protected call(node: CallNode | MethodNode, discard = false): string {
    return this.settled(this.startCall(node, discard));
  }

  /** Like `call`, but in the resumable form the value may be a frame that still has to be run. */
  protected startCall(node: CallNode | MethodNode, discard = false): string {
    if (node.type === 'method') return this.#methodCall(node);
    const { callee } = node;
    const site = this.site(node.line, this.naming(callee));
    const fixed = this.fixed(callee);
    if (typeof fixed === 'function') {
      const used = (discard ? this.library.discarding.get(fixed) : undefined) ?? fixed;
      return this.#apply(this.constant(used), '', node.args, site);
    }
    if (this.kindOf(callee) === 'function' && callee.type === 'local') {
      return this.#apply(this.value(callee), '', node.args, site);
    }
    const simple = this.isSimple(callee);
    const code = this.value(callee);
    const temp = simple ? code : this.temp();
    if (!simple) this.release(temp);
    const test = simple ? code : `(${temp} = ${code})`;
    const target = `(typeof ${test} === 'function' ? ${temp} : R.callable(${temp}, ${site}))`;
    return this.#apply(target, '', node.args, site);
  }

  #methodCall(node: MethodNode): string {
    const site = this.site(node.line, `method '${node.name}'`);
    const lookup = this.site(node.line, this.naming(node.object));
    const code = this.value(node.object);
    const self = this.temp();
    const method = this.temp();
    const find = this.settled(
      `R.indexString(${self}, ${this.string(node.name)}, ${this.hash(node.name)}, ${lookup})`,
    );
    const known = this.library.strings.get(node.name);
    const found =
      known === undefined ? find : `typeof ${self} === 'string' ? ${this.constant(known)} : ${find}`;
    const target = `(typeof ${method} === 'function' ? ${method} : R.callable(${method}, ${site}))`;
    this.release(method);
    const applied = this.#apply(target, self, node.args, site);
    this.release(self);
    return `(${self} = ${code}, ${method} = ${found}, ${applied})`;
  }

  /** Evaluates the arguments, records the call as the current one, and then makes it. */
  #apply(target: string, self: string, args: readonly Expression[], site: string): string {
    this.frame.sites++;
    const first = self === '' ? [] : [self];
    if (args.every((arg) => this.isQuiet(arg))) {
      const list = [...first, ...this.list(args)].join(', ');
      return `(S.site = ${site}, ${target}(${list}))`;
    }
    const list = this.list(args);
    const last = list.pop()!;
    const temp = this.temp();
    this.release(temp);
    const noted = last.startsWith('...')
      ? `...(${temp} = ${last.slice(3)}, S.site = ${site}, ${temp})`
      : `(${temp} = ${last}, S.site = ${site}, ${temp})`;
    return `${target}(${[...first, ...list, noted].join(', ')})`;
  }

  /** The sources of a list of values. The last one may stand for several values. */
  protected list(nodes: readonly Expression[]): string[] {
    return nodes.map((node, i) => {
      if (i < nodes.length - 1) return this.value(node);
      if (node.type === 'vararg') return '...V';
      return this.isMultiple(node) ? `...R.listOf(${this.call(node)})` : this.value(node);
    });
  }

  /** True for a call that can return any number of values. */
  protected isMultiple(node: Expression): node is CallNode | MethodNode {
    if (node.type === 'method') return true;
    if (node.type !== 'call') return false;
    const fixed = this.fixed(node.callee);
    return !(typeof fixed === 'function' && this.library.single.has(fixed));
  }

  /** True for an expression that stands for any number of values when it comes last. */
  protected isOpen(node: Expression): node is CallNode | MethodNode | (Expression & { type: 'vararg' }) {
    return node.type === 'vararg' || this.isMultiple(node);
  }

  #table(node: TableNode): string {
    const positional = node.items.filter((item) => item.key === undefined).map((item) => item.value);
    const fields = node.items.length - positional.length;
    this.frame.sites += 1 + (node.items.length >> 3);
    const open = node.items[node.items.length - 1];
    const many = open?.key === undefined && ['call', 'method', 'vararg'].includes(open?.value.type ?? '');
    const room = roomFor(positional.length - (many ? 1 : 0));
    if (fields === 0) {
      if (positional.length === 0) return 'new R.LuaTable()';
      return `R.tableOf([${this.list(positional).join(', ')}], ${room})`;
    }
    const table = this.temp();
    const items = this.temp();
    const last = node.items[node.items.length - 1]!;
    const steps = [`${table} = new R.LuaTable(${roomFor(fields)}, ${room})`];
    if (positional.length > 0) steps.push(`${items} = []`);
    const site = this.site(node.line);
    for (const { key, value } of node.items) {
      if (key === undefined) {
        const code = last.value === value ? this.list([value])[0]! : this.value(value);
        steps.push(`${items}.push(${code})`);
      } else if (key.type === 'string' && this.column(key) === undefined) {
        const name = this.string(key.value);
        steps.push(`${table}.setString(${name}, ${this.hash(key.value)}, ${this.value(value)})`);
      } else steps.push(`R.setIndex(${table}, ${this.value(key)}, ${this.value(value)}, ${site})`);
    }
    if (positional.length > 0) steps.push(`R.fill(${table}, ${items})`);
    this.release(table, items);
    return `(${steps.join(', ')}, ${table})`;
  }
}

/** True for the number of an item: an integer of at least 1. */
function isPlace(key: Expression): boolean {
  return key.type === 'number' && key.value >= 1 && Number.isInteger(key.value);
}

/** A constructor gives its sizes in Lua's one-byte floating point format, which rounds up. */
export function roomFor(count: number): number {
  let mantissa = count;
  let exponent = 0;
  while (mantissa >= 16) {
    mantissa = (mantissa + 1) >> 1;
    exponent++;
  }
  return mantissa << exponent;
}
