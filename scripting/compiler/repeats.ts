/** Writes statements that are repeated: one source for each shape, in a loop over tables of their constants and lines. */
import type { Repeated, Statement, StatementShape } from '../syntax/ast.ts';
import { ExpressionEmitter } from './expressions.ts';

/** Writes repeated statements. All others are left to the subclass. */
export abstract class RepeatEmitter extends ExpressionEmitter {
  #count = 0;

  protected abstract statement(node: Statement): string;

  protected repeated({ shapes, order }: Repeated): string {
    const id = ++this.#count;
    const [at, left] = [`y${id}`, `w${id}`];
    const counters: string[] = [];
    const arms = shapes.map((shape, i) => {
      const row = `q${id}_${i}`;
      const counter = `x${id}_${i}`;
      if (isVaried(shape)) counters.push(`${counter} = 0`);
      return `case ${i}: ${this.#arm(shape, row, counter, left)} break;`;
    });
    this.frame.blocks += 2 + counters.length;
    const list = this.constant(order);
    return [
      `{ ${counters.length > 0 ? `let ${counters.join(', ')};` : ''}`,
      `for (let ${at} = 0; ${at} < ${list}.length; ${at} += 2) {`,
      `let ${left} = ${list}[${at} + 1]; switch (${list}[${at}]) {`,
      ...arms,
      '}}}',
    ].join('\n');
  }

  /** The source of one shape. It runs as often as statements of the shape follow each other. */
  #arm(shape: StatementShape, row: string, counter: string, left: string): string {
    const outer = this.repeating;
    const { sites } = this.frame;
    const repeating = { shape, row, sites: new Map<string, string>() };
    this.repeating = repeating;
    const code = this.statement(shape.statement);
    this.repeating = outer;
    this.frame.sites = sites + (this.frame.sites - sites) * shape.count;
    if (shape.count === 1) return `{ ${code} }`;
    this.frame.blocks += 1 + repeating.sites.size;
    const head = isVaried(shape) ? `const ${row} = ${counter}++; ` : '';
    const places = repeating.sites.size > 0 ? `let ${[...repeating.sites.values()].join(', ')}; ` : '';
    return `for (; ${left} > 0; ${left}--) { ${head}${places}${code} }`;
  }
}

function isVaried({ lines, columns }: StatementShape): boolean {
  return lines !== undefined || columns.some(({ values }) => values !== undefined);
}
