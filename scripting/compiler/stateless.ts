/**
 * Decides whether the functions of a library keep state between calls. If they do not, a call may be run again from its
 * start.
 */
import type { Expression, FunctionNode, Repeated, Statement, TableNode, Variable } from '../syntax/ast.ts';

/*
 * Only the simplest libraries are recognised, which are nearly all: local functions, constants, tables of both, and
 * registrations. Everything else counts as keeping state, which is slower but never wrong.
 */

/** True when no call of the chunk's functions can change the chunk's variables. */
export function isStateless(chunk: FunctionNode): boolean {
  const tables = new Set<Variable>();
  return chunk.body.every((statement) => isPlain(statement, tables)) && staysPlain(chunk, tables);
}

function isConstant(node: Expression): boolean {
  return ['nil', 'true', 'false', 'number', 'string'].includes(node.type);
}

/** True for a value that cannot change. A function is one if the variables that it uses cannot change. */
function isFixed(node: Expression): boolean {
  return isConstant(node) || node.type === 'function';
}

function isFixedTable(node: TableNode): boolean {
  return node.items.every(({ key, value }) => (key === undefined || isConstant(key)) && isFixed(value));
}

function isPlain(statement: Statement, tables: Set<Variable>): boolean {
  switch (statement.type) {
    case 'localFunction':
      return true;
    case 'local':
      if (statement.values.length > statement.variables.length) return false;
      return statement.values.every((value, i) => {
        if (isFixed(value)) return true;
        if (value.type !== 'table' || !isFixedTable(value)) return false;
        tables.add(statement.variables[i]!);
        return true;
      });
    case 'assign':
      return statement.values.every(isFixed) && statement.targets.every((target) => isEntry(target, tables));
    case 'callStatement':
      return (
        statement.call.type === 'call' &&
        isRegistration(statement.call.callee) &&
        statement.call.args.every(isArgument)
      );
    case 'repeated':
      return statement.shapes.every((shape) => isPlain(shape.statement, tables));
    default:
      return false;
  }
}

/** True for `M.name`, where M is one of the chunk's tables. */
function isEntry(node: Expression, tables: ReadonlySet<Variable>): boolean {
  return (
    node.type === 'index' &&
    node.object.type === 'local' &&
    tables.has(node.object.variable) &&
    isConstant(node.key)
  );
}

function isRegistration(callee: Expression): boolean {
  if (callee.type !== 'index' || callee.object.type !== 'global' || callee.object.name !== 'redis')
    return false;
  return callee.key.type === 'string' && callee.key.value === 'register_function';
}

/** True for an argument of register_function, which keeps nothing except functions. */
function isArgument(node: Expression): boolean {
  if (isFixed(node) || node.type === 'local' || node.type === 'index') return true;
  return node.type === 'table' && node.items.every(({ value }) => isArgument(value));
}

/** True when inner functions never assign to the chunk's variables, and only read its tables. */
function staysPlain(chunk: FunctionNode, tables: ReadonlySet<Variable>): boolean {
  const isTable = (node: unknown): boolean => {
    const local = node as { type?: string; variable?: Variable };
    return local.type === 'local' && local.variable !== undefined && tables.has(local.variable);
  };
  const visit = (node: unknown, inside: boolean): boolean => {
    if (Array.isArray(node)) return node.every((each) => visit(each, inside));
    if (typeof node !== 'object' || node === null) return true;
    const { type } = node as { type?: string };
    if (type === undefined && 'owner' in node) return true;
    if (type === 'repeated') {
      return (node as Repeated).shapes.every((shape) => visit(shape.statement, inside));
    }
    if (inside && isTable(node)) return false;
    if (inside && type === 'assign') {
      const { targets } = node as { targets: Expression[] };
      for (const target of targets) {
        if (target.type === 'local' && target.variable.owner === chunk) return false;
        if (target.type === 'index' && isTable(target.object)) return false;
      }
    }
    if (type === 'index') {
      const { object, key } = node as { object: unknown; key: unknown };
      return (isTable(object) || visit(object, inside)) && visit(key, inside);
    }
    for (const [name, value] of Object.entries(node)) {
      if (name !== 'parent' && !visit(value, inside || name === 'body')) return false;
    }
    return true;
  };
  return visit(chunk.body, false);
}
