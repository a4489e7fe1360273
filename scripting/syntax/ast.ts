/** The syntax tree of a Lua chunk, with every name already resolved to a local variable or a global. */
import type { Bytes } from '../../protocol/bytes.ts';

/** A local variable. */
export interface Variable {
  readonly id: number;
  readonly name: Bytes;
  readonly owner: FunctionNode;
  /** Used by an inner function. */
  captured: boolean;
  /** Assigned to after its declaration. */
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

export interface IndexNode {
  type: 'index';
  object: Expression;
  key: Expression;
  line: number;
}

export interface CallNode {
  type: 'call';
  callee: Expression;
  args: Expression[];
  line: number;
}

export interface MethodNode {
  type: 'method';
  object: Expression;
  name: Bytes;
  args: Expression[];
  line: number;
}

export interface TableNode {
  type: 'table';
  /** An item without a key is positional. */
  items: { key: Expression | undefined; value: Expression }[];
  line: number;
}

export interface LogicNode {
  type: 'and' | 'or';
  left: Expression;
  right: Expression;
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^' | '..' | '==' | '~=' | '<' | '<=' | '>' | '>=';

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
  | { type: 'break' };

export interface NumericFor {
  type: 'numericFor';
  variable: Variable;
  start: Expression;
  limit: Expression;
  step: Expression | undefined;
  body: Statement[];
  line: number;
}

export interface GenericFor {
  type: 'genericFor';
  variables: Variable[];
  values: Expression[];
  body: Statement[];
  line: number;
}

export interface FunctionNode {
  parameters: Variable[];
  vararg: boolean;
  body: Statement[];
  /** 0 for the main chunk. */
  line: number;
  parent: FunctionNode | undefined;
  /** Calls something, so that it may recurse. */
  calls: boolean;
  /** Local variables in all, for the estimate of a frame's size. */
  locals: number;
  /** The `arg` table that 5.1 makes in a vararg function that never says `...`. */
  arg: Variable | undefined;
  /** Says `...`. */
  usesVararg: boolean;
}
