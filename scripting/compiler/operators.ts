/** Writes Lua's operators as JavaScript expressions: inline for numbers, otherwise as calls of the runtime. */
import { LARGE } from '../runtime/memory.ts';
import type { BinaryNode, Expression, LogicNode } from '../syntax/ast.ts';
import { Emitter } from './emitter.ts';

const ARITHMETIC: Record<string, readonly [string, string]> = {
  '+': ['+', 'add'],
  '-': ['-', 'subtract'],
  '*': ['*', 'multiply'],
  '/': ['/', 'divide'],
  '%': ['', 'modulo'],
  '^': ['', 'raisePower'],
};

/** A chain of more operators than this is not written as nested expressions. */
const MAX_NESTED_SUM = 20;

/** The operands of `a and b and c`. */
export function chainOf(node: LogicNode): Expression[] {
  const operands: Expression[] = [node.right];
  let left: Expression = node.left;
  for (; left.type === node.type; left = (left as LogicNode).left)
    operands.unshift((left as LogicNode).right);
  operands.unshift(left);
  return operands;
}

/** The operators of `a + b - c`, from left to right. */
function sumOf(node: BinaryNode): BinaryNode[] {
  const chain = [node];
  for (let { left } = node; left.type === 'binary' && ARITHMETIC[left.operator]; left = left.left) {
    chain.unshift(left);
  }
  return chain;
}

/** Writes operators. Operands are left to the subclass. */
export abstract class OperatorEmitter extends Emitter {
  protected abstract value(node: Expression): string;
  protected abstract condition(node: Expression): string;

  protected logic(node: LogicNode): string {
    const operands = chainOf(node);
    if (operands.length > 2) return this.#logicChain(node.type, operands);
    const { left } = node;
    const and = node.type === 'and';
    if (this.kindOf(left) === 'boolean') {
      return `(${this.value(left)} ${and ? '&&' : '||'} ${this.value(node.right)})`;
    }
    const simple = this.isSimple(left);
    const code = this.value(left);
    const temp = simple ? '' : this.temp();
    const name = simple ? code : temp;
    const test = `${simple ? code : `(${temp} = ${code})`} === undefined || ${name} === false`;
    this.release(temp);
    const right = this.value(node.right);
    return `(${test} ? ${and ? name : right} : ${and ? right : name})`;
  }

  /** Writes a chain without nesting, because JavaScript's parser recurses where Lua's loops. */
  #logicChain(type: 'and' | 'or', operands: readonly Expression[]): string {
    const temp = this.temp();
    const tests = operands.slice(0, -1).map((operand) => {
      const code = `(${temp} = ${this.value(operand)})`;
      return type === 'and'
        ? `${code} !== undefined && ${temp} !== false`
        : `(${code} === undefined || ${temp} === false)`;
    });
    const last = this.value(operands[operands.length - 1]!);
    this.release(temp);
    return `(${tests.join(' && ')} && (${temp} = ${last}), ${temp})`;
  }

  /** Both operands, evaluated in order. Those that cannot be written twice go into temporaries. */
  #operands(left: Expression, right: Expression): { before: string; l: string; r: string; temps: string[] } {
    const before: string[] = [];
    const temps: string[] = [];
    const hold = (node: Expression) => {
      const code = this.value(node);
      if (this.isSimple(node)) return code;
      const temp = this.temp();
      temps.push(temp);
      before.push(`${temp} = ${code}`);
      return temp;
    };
    const l = hold(left);
    const r = hold(right);
    return { before: before.length > 0 ? `${before.join(', ')}, ` : '', l, r, temps };
  }

  protected binary(node: BinaryNode): string {
    const arithmetic = ARITHMETIC[node.operator];
    if (arithmetic !== undefined) return this.#arithmetic(node, arithmetic[0], arithmetic[1]);
    switch (node.operator) {
      case '..':
        return this.#concatenation(node);
      case '==':
        return this.#equality(node);
      case '~=':
        return `!${this.#equality(node)}`;
      case '>':
        return this.#order(node, '>', 'less', true);
      case '>=':
        return this.#order(node, '>=', 'lessOrEqual', true);
      default:
        return this.#order(node, node.operator, node.operator === '<' ? 'less' : 'lessOrEqual', false);
    }
  }

  #arithmetic(node: BinaryNode, operator: string, helper: string): string {
    const compute = (l: string, r: string) => {
      if (operator !== '') return `${l} ${operator} ${r}`;
      return helper === 'modulo' ? `R.remainder(${l}, ${r})` : `R.power(${l}, ${r})`;
    };
    const chain = sumOf(node);
    if (chain.length > MAX_NESTED_SUM) return this.#sum(chain);
    const leftIsNumber = this.kindOf(node.left) === 'number';
    const rightIsNumber = this.kindOf(node.right) === 'number';
    if (leftIsNumber && rightIsNumber) return `(${compute(this.value(node.left), this.value(node.right))})`;
    const { before, l, r, temps } = this.#operands(node.left, node.right);
    const tests: string[] = [];
    if (!leftIsNumber) tests.push(`typeof ${l} === 'number'`);
    if (!rightIsNumber) tests.push(`typeof ${r} === 'number'`);
    const site = this.site(node.line, this.naming(node.left), this.naming(node.right));
    const slow = this.settled(`R.${helper}(${l}, ${r}, ${site})`);
    this.release(...temps);
    return `(${before}${tests.join(' && ')} ? ${compute(l, r)} : ${slow})`;
  }

  /** Writes a long chain of left-associative operators step by step, with one variable. */
  #sum(chain: readonly BinaryNode[]): string {
    const total = this.temp();
    const steps = [`${total} = ${this.value(chain[0]!.left)}`];
    for (const [i, node] of chain.entries()) {
      const part = this.temp();
      const [operator = '', helper = ''] = ARITHMETIC[node.operator]!;
      const site = this.site(node.line, i === 0 ? this.naming(node.left) : '', this.naming(node.right));
      steps.push(`${part} = ${this.value(node.right)}`);
      const slow = this.settled(`R.${helper}(${total}, ${part}, ${site})`);
      const numbers = `typeof ${total} === 'number' && typeof ${part} === 'number'`;
      steps.push(
        `${total} = ${operator === '' ? slow : `${numbers} ? ${total} ${operator} ${part} : ${slow}`}`,
      );
      this.release(part);
    }
    this.release(total);
    return `(${steps.join(', ')}, ${total})`;
  }

  #order(node: BinaryNode, operator: string, helper: string, swapped: boolean): string {
    const leftIsNumber = this.kindOf(node.left) === 'number';
    const rightIsNumber = this.kindOf(node.right) === 'number';
    if (leftIsNumber && rightIsNumber) {
      return `(${this.value(node.left)} ${operator} ${this.value(node.right)})`;
    }
    const { before, l, r, temps } = this.#operands(node.left, node.right);
    const tests: string[] = [];
    if (!leftIsNumber) tests.push(`typeof ${l} === 'number'`);
    if (!rightIsNumber) tests.push(`typeof ${r} === 'number'`);
    const operands = swapped ? `${r}, ${l}` : `${l}, ${r}`;
    const slow = this.settled(`R.${helper}(${operands}, ${this.site(node.line)})`);
    this.release(...temps);
    return `(${before}${tests.join(' && ')} ? ${l} ${operator} ${r} : ${slow})`;
  }

  #equality(node: BinaryNode): string {
    const plain = (side: Expression) =>
      side.type === 'nil' || ['number', 'string', 'boolean'].includes(this.kindOf(side));
    if (plain(node.left) || plain(node.right)) {
      return `(${this.value(node.left)} === ${this.value(node.right)})`;
    }
    const { before, l, r, temps } = this.#operands(node.left, node.right);
    const slow = this.settled(`R.equal(${l}, ${r}, ${this.site(node.line)})`);
    this.release(...temps);
    return `(${before}${l} === ${r} || ${slow})`;
  }

  /** `a .. b .. c`: evaluates all operands first, then joins them from the right. */
  #concatenation(node: BinaryNode): string {
    const operands: Expression[] = [node.left];
    let rest: Expression = node.right;
    while (rest.type === 'binary' && rest.operator === '..') {
      operands.push(rest.left);
      rest = rest.right;
    }
    operands.push(rest);
    const quiet = operands.every((operand) => this.isQuiet(operand));
    const temps: string[] = [];
    const before: string[] = [];
    const parts = operands.map((operand) => {
      const code = this.value(operand);
      if (operand.type === 'string' || (quiet && this.isSimple(operand))) return code;
      const temp = this.temp();
      temps.push(temp);
      before.push(`${temp} = ${code}`);
      return temp;
    });
    let result = parts[parts.length - 1]!;
    for (let i = parts.length - 2; i >= 0; i--) {
      const last = i === parts.length - 2;
      const right = last ? operands[i + 1]! : undefined;
      result = this.#join(node, operands[i]!, parts[i]!, right, result, i === 0);
    }
    this.release(...temps);
    this.frame.sites++;
    return before.length > 0 ? `(${before.join(', ')}, ${result})` : result;
  }

  /** @param isWhole true for the join that makes the whole text, which is counted. Most texts are too short for a call. */
  #join(
    node: BinaryNode,
    left: Expression,
    l: string,
    right: Expression | undefined,
    code: string,
    isWhole: boolean,
  ): string {
    const temp = right === undefined ? this.temp() : '';
    const r = right === undefined ? temp : code;
    const tests: string[] = [];
    if (this.kindOf(left) !== 'string') tests.push(`typeof ${l} === 'string'`);
    if (right === undefined || this.kindOf(right) !== 'string') tests.push(`typeof ${r} === 'string'`);
    const site = this.site(node.line, this.naming(left), right === undefined ? '' : this.naming(right));
    const before = right === undefined ? `${temp} = ${code}, ` : '';
    const slow = this.settled(`R.concatenate(${l}, ${r}, ${site})`);
    const sum = this.temp();
    const joined = isWhole
      ? `((${sum} = ${l} + ${r}).length < ${LARGE} ? ${sum} : R.weighed(${sum}))`
      : `${l} + ${r}`;
    this.release(temp, sum);
    if (tests.length === 0) return `(${joined})`;
    return `(${before}${tests.join(' && ')} ? ${joined} : ${slow})`;
  }

  protected unary(node: Expression & { type: 'unary' }): string {
    if (node.operator === 'not') return `!${this.condition(node.operand)}`;
    const site = this.site(node.line, this.naming(node.operand));
    const code = this.value(node.operand);
    if (node.operator === '#') return `R.lengthOf(${code}, ${site})`;
    if (this.kindOf(node.operand) === 'number') return `(-${code})`;
    const temp = this.temp();
    const slow = this.settled(`R.negate(${temp}, ${site})`);
    this.release(temp);
    return `(typeof (${temp} = ${code}) === 'number' ? -${temp} : ${slow})`;
  }
}
