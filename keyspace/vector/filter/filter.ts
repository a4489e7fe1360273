/**
 * The expressions of VSIM's FILTER, such as `.year > 1980 and .director in ["a", "b"]`: compiled once, and run for each
 * element (https://redis.io/docs/latest/develop/data-types/vector-sets/filtered-search/).
 */
import type { Bytes } from '../../../protocol/bytes.ts';
import { readField } from './attributes.ts';
import { FilterError, type FilterOperator, type Token, tokenize } from './tokens.ts';
import { areEqual, type FilterValue, isTrue, numberValue, toNumber } from './values.ts';

/** How servers differ. */
export interface FilterOptions {
  /** Whether null is a value, or left out of the expression. */
  readonly nulls: boolean;
  /** Whether `in` also looks for a text in a text. */
  readonly texts: boolean;
}

/** A compiled expression. */
export class Filter {
  /** Operands before their operators. */
  readonly #program: readonly Token[];
  readonly #options: FilterOptions;

  /** Compiles an expression. Throws FilterError with the position that redis-server reports. */
  constructor(expression: Bytes, options: FilterOptions) {
    this.#options = options;
    this.#program = compile(tokenize(expression), options);
  }

  /** True when the attributes fulfil the expression. A field that is missing makes it false. */
  accepts(attributes: Bytes): boolean {
    const stack: FilterValue[] = [];
    for (const token of this.#program) {
      if (token.kind === 'value') stack.push(token.value);
      else if (token.kind === 'selector') {
        const value = token.field === '' ? undefined : readField(attributes, token.field);
        if (value === undefined) return false;
        stack.push(value);
      } else {
        const b = stack.pop()!;
        const a = token.operator.operands === 2 ? stack.pop()! : b;
        stack.push(numberValue(apply(token.operator.name, a, b, this.#options)));
      }
    }
    return isTrue(stack[0]!);
  }
}

/** Puts the operators behind their operands. Only the number of operands is checked, so `2 3 <` is an expression too. */
function compile(tokens: readonly Token[], { nulls }: FilterOptions): Token[] {
  const program: Token[] = [];
  const waiting: FilterOperator[] = [];
  let values = 0;
  const emit = (operator: FilterOperator): void => {
    if (values < operator.operands) throw new FilterError(0);
    program.push({ kind: 'operator', operator });
    values += 1 - operator.operands;
  };
  for (const token of tokens) {
    if (token.kind !== 'operator') {
      if (token.kind === 'value' && token.value.kind === 'null' && !nulls) continue;
      program.push(token);
      values++;
      continue;
    }
    const { operator } = token;
    if (operator.name === ')') {
      for (let top = waiting.pop(); top?.name !== '('; top = waiting.pop()) {
        if (top === undefined) throw new FilterError(0);
        emit(top);
      }
      continue;
    }
    // An opening bracket ends with its own closing one.
    if (operator.name !== '(') while (comesFirst(waiting.at(-1), operator)) emit(waiting.pop()!);
    waiting.push(operator);
  }
  for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) {
    if (top.name === '(') throw new FilterError(0);
    emit(top);
  }
  if (values !== 1) throw new FilterError(0);
  return program;
}

/** True when an operator that waits is applied before the next one. Powers are applied from right to left. */
function comesFirst(top: FilterOperator | undefined, next: FilterOperator): boolean {
  if (top === undefined || top.name === '(') return false;
  return next.name === '**' ? top.precedence > next.precedence : top.precedence >= next.precedence;
}

function apply(
  name: FilterOperator['name'],
  a: FilterValue,
  b: FilterValue,
  { texts }: FilterOptions,
): number {
  switch (name) {
    case 'not':
      return +!isTrue(b);
    case 'and':
      return +(isTrue(a) && isTrue(b));
    case 'or':
      return +(isTrue(a) || isTrue(b));
    case '==':
      return +areEqual(a, b);
    case '!=':
      return +!areEqual(a, b);
    case 'in':
      if (b.kind === 'list') return +b.items.some((item) => areEqual(a, item));
      return +(texts && a.kind === 'string' && b.kind === 'string' && b.text.includes(a.text));
    default:
      return calculate(name, toNumber(a), toNumber(b));
  }
}

function calculate(name: FilterOperator['name'], a: number, b: number): number {
  switch (name) {
    case '**':
      return power(a, b);
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '>':
      return +(a > b);
    case '>=':
      return +(a >= b);
    case '<':
      return +(a < b);
    default:
      return +(a <= b);
  }
}

/** C's pow: 1 to any power is 1, and so is -1 to an infinite one. */
function power(a: number, b: number): number {
  if (a === 1 || (a === -1 && Math.abs(b) === Infinity)) return 1;
  return a ** b;
}
