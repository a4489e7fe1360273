/** The syntax tree of a Lua chunk. Every name is already resolved to a local variable or a global. */
import type { Bytes } from '../../protocol/bytes.ts';

/** A local variable. */
export interface Variable {
  readonly id: number;
  readonly name: Bytes;
  readonly owner: FunctionNode;
  /** True when an inner function uses it. */
  captured: boolean;
  /** True when it is assigned to after its declaration. */
  assigned: boolean;
}

export type Expression =
  | { type: 'nil' | 'true' | 'false' }
  | { type: 'number'; value: number }
  | { type: 'string'; value: Bytes }
  | { type: 'vararg' }
  | { type: 'local'; variable: Variable; upvalue: boolean }
  | { type: 'global'; name: Bytes; line: number }
  | IndexNode
  | CallNode
  | MethodNode
  | { type: 'paren'; inner: Expression }
  | { type: 'function'; body: FunctionNode }
  | TableNode
  | LogicNode
  | BinaryNode
  | { type: 'unary'; operator: 'not' | '-' | '#'; operand: Expression; line: number };

/** `object[key]` or `object.key`. */
export interface IndexNode {
  type: 'index';
  object: Expression;
  key: Expression;
  line: number;
}

/** `callee(args)`. */
export interface CallNode {
  type: 'call';
  callee: Expression;
  args: Expression[];
  line: number;
}

/** `object:name(args)`. */
export interface MethodNode {
  type: 'method';
  object: Expression;
  name: Bytes;
  args: Expression[];
  line: number;
}

/** A table constructor. */
export interface TableNode {
  type: 'table';
  /** Items without a key are positional. */
  items: { key: Expression | undefined; value: Expression }[];
  line: number;
}

/** `a and b` or `a or b`. */
export interface LogicNode {
  type: 'and' | 'or';
  left: Expression;
  right: Expression;
}

/** The operators of BinaryNode. */
export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^' | '..' | '==' | '~=' | '<' | '<=' | '>' | '>=';

/** An operator with two operands, except `and` and `or`. */
export interface BinaryNode {
  type: 'binary';
  operator: BinaryOperator;
  left: Expression;
  right: Expression;
  line: number;
}

export type Statement =
  | { type: 'local'; variables: Variable[]; values: Expression[] }
  | { type: 'assign'; targets: Expression[]; values: Expression[]; line: number }
  | { type: 'callStatement'; call: CallNode | MethodNode }
  | { type: 'do'; body: Statement[] }
  | { type: 'while'; condition: Expression; body: Statement[]; line: number }
  | { type: 'repeat'; condition: Expression; body: Statement[]; line: number }
  | { type: 'if'; clauses: { condition: Expression | undefined; body: Statement[] }[] }
  | NumericFor
  | GenericFor
  | { type: 'localFunction'; variable: Variable; body: FunctionNode }
  | { type: 'return'; values: Expression[] }
  | { type: 'break' }
  | Repeated;

/** What statements of one shape may differ in: a number, a string, or the name of a global that is assigned to. */
export type Constant = number | Bytes;

/** A constant of statements that have one shape. */
export interface Column {
  /** That of the first statement. */
  readonly value: Constant;
  /** That of each statement, when they differ. */
  values: Constant[] | undefined;
}

/** Statements that differ in their lines and constants only. */
export interface StatementShape {
  /** The first one. */
  readonly statement: Statement;
  count: number;
  /** The line of the first one, from which its other lines are counted. */
  readonly line: number;
  /** The line of each, when they differ. */
  lines: number[] | undefined;
  readonly columns: readonly Column[];
  /** The number of the column for each node of the first statement that is a constant. */
  readonly places: ReadonlyMap<object, number>;
}

/** Many statements in a row, as tables. None of them declares a name for the others or leaves the block. */
export interface Repeated {
  type: 'repeated';
  shapes: StatementShape[];
  /** The number of a shape and how many statements of it follow, again and again. */
  order: number[];
}

/** `for i = from, to, step do … end`. */
export interface NumericFor {
  type: 'numericFor';
  variable: Variable;
  start: Expression;
  limit: Expression;
  step: Expression | undefined;
  body: Statement[];
  line: number;
}

/** `for a, b in … do … end`. */
export interface GenericFor {
  type: 'genericFor';
  variables: Variable[];
  values: Expression[];
  body: Statement[];
  line: number;
}

/** A function, or the main chunk. */
export interface FunctionNode {
  parameters: Variable[];
  vararg: boolean;
  body: Statement[];
  /** The line on which it begins; 0 for the main chunk. */
  line: number;
  parent: FunctionNode | undefined;
  /** True when it calls anything, so that it may recurse. */
  calls: boolean;
  /** The total number of local variables, for the estimate of a frame's size. */
  locals: number;
  /** The `arg` table that Lua 5.1 creates in a vararg function that does not use `...`. */
  arg: Variable | undefined;
  /** True when it uses `...`. */
  usesVararg: boolean;
}
