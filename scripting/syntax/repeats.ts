/**
 * Keeps the statements of a long block as tables. Scripts of many thousand statements are written by programs: most of their
 * statements differ in constants and lines only (docs/decisions/0042).
 */
import { allocate } from '../../protocol/allowance.ts';
import type { Constant, Repeated, Statement, StatementShape } from './ast.ts';
import { Outline } from './outline.ts';

/** A block keeps so many statements as they are. Scripts that people write have fewer. */
const ORDINARY = 256;

/** After so many shapes with the same hash, a statement counts as one of a new shape. A script could have any number of them. */
const COLLISIONS = 16;

/** What a statement of a known shape takes, and each of its constants, in bytes. */
const ROW_BYTES = 16;
const CONSTANT_BYTES = 24;

/** The statements of one block. */
export class StatementList {
  readonly statements: Statement[] = [];
  #outline: Outline | undefined;
  #run: StatementRun | undefined;

  /**
   * Adds the next statement.
   * @returns true when the block does not keep its tree
   */
  add(statement: Statement): boolean {
    if (this.statements.length < ORDINARY || isAlone(statement)) return this.#keep(statement);
    const outline = (this.#outline ??= new Outline());
    outline.trace(statement);
    if (outline.breaks) return this.#keep(statement);
    if (this.#run === undefined) {
      this.#run = new StatementRun();
      this.statements.push(this.#run.node);
    }
    return this.#run.add(statement, outline);
  }

  #keep(statement: Statement): false {
    this.#run = undefined;
    this.statements.push(statement);
    return false;
  }
}

/** True for a statement that declares a name for those that follow, or ends the block. */
function isAlone({ type }: Statement): boolean {
  return type === 'local' || type === 'localFunction' || type === 'return' || type === 'break';
}

/** Statements in a row. */
class StatementRun {
  readonly node: Repeated = { type: 'repeated', shapes: [], order: [] };
  /** The last shape for each hash. Others with the same hash follow it. */
  readonly #known = new Map<number, KnownShape>();

  add(statement: Statement, outline: Outline): boolean {
    const { shapes, order } = this.node;
    const first = outline.isUnique ? undefined : this.#known.get(outline.hash);
    let known = first;
    for (let tries = 0; known !== undefined && !outline.matches(known.words); tries++) {
      known = tries < COLLISIONS ? known.before : undefined;
    }
    if (known !== undefined) {
      allocate(ROW_BYTES + CONSTANT_BYTES * outline.width);
      repeat(known.shape, outline);
      if (order[order.length - 2] === known.index) order[order.length - 1]!++;
      else order.push(known.index, 1);
      return true;
    }
    const places = outline.places();
    const shape = {
      statement,
      count: 1,
      line: outline.line,
      lines: undefined,
      columns: places.map((_, i) => ({ value: outline.constant(i), values: undefined })),
      places: new Map(places.map((place, i) => [place, i])),
    };
    const index = shapes.push(shape) - 1;
    order.push(index, 1);
    if (!outline.isUnique) {
      this.#known.set(outline.hash, { shape, index, words: outline.words(), before: first });
    }
    return false;
  }
}

interface KnownShape {
  readonly shape: StatementShape;
  readonly index: number;
  readonly words: readonly unknown[];
  readonly before: KnownShape | undefined;
}

/** Adds a statement to those of its shape. A column has values from the first one that differs. */
function repeat(shape: StatementShape, outline: Outline): void {
  const { columns, count } = shape;
  const { line } = outline;
  if (shape.lines !== undefined) shape.lines.push(line);
  else if (line !== shape.line) shape.lines = [...new Array<number>(count).fill(shape.line), line];
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!;
    const value = outline.constant(i);
    if (column.values !== undefined) column.values.push(value);
    else if (value !== column.value) {
      column.values = [...new Array<Constant>(count).fill(column.value), value];
    }
  }
  shape.count++;
}
