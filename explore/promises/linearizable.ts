/** The promise that what clients record looks as if one operation had followed the other: it is made for an object. */
import { badOption } from '../../base/options.ts';
import type { History } from '../history.ts';
import { firstMisfit } from '../operations/linearize.ts';
import { MODELS, type ModelName, type ObjectModel } from '../operations/models.ts';
import { operationText } from '../operations/operation.ts';
import type { MadePromise } from './promise.ts';

/** What is wrong, when, and whose operation shows it. */
interface Misfit {
  readonly what: string;
  /** When, in milliseconds since the clients started. */
  readonly at: number;
  readonly clients: readonly string[];
}

/** For docs/explore.md. */
export const linearizableText = {
  sentence: `the operations that clients \`record\` on a ${Object.keys(MODELS).join(', ')} can be put in one order that gives these results: each takes effect between its invocation and its response, or later if nobody knows how it ended`,
  nothing: 'if no client records an operation',
};

/**
 * A promise for `promises` of an exploration: the operations that clients record on each object are linearizable. Throws
 * TypeError for an unknown model. The promise throws for an operation that the object does not have.
 * @param name what the object is: 'register', 'counter', 'queue', 'set' or 'lock'
 */
export function linearizable(name: ModelName): (history: History) => Misfit | undefined {
  const model: ObjectModel<unknown> | undefined = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model === undefined) throw badOption('linearizable', name, Object.keys(MODELS).join(', '));
  const promise = ({ operations }: History): Misfit | undefined => {
    for (const { operation } of operations) {
      if (!model.operations.includes(operation))
        throw badOption('record', operation, `for a ${name}: ${model.operations.join(', ')}`);
    }
    for (const of of new Set(operations.map((each) => each.of))) {
      const all = operations.filter((each) => each.of === of);
      const misfit = firstMisfit(model, all);
      if (misfit === undefined) continue;
      const which = of === '' ? `the ${name}` : `the ${name} ${of}`;
      const known = all.filter(({ from }) => from <= misfit.to).length;
      const what = `${which} is not linearizable: ${operationText(misfit)} fits into no order of the ${known} operations until then`;
      return { what, at: misfit.to, clients: [misfit.client] };
    }
    return undefined;
  };
  Object.defineProperty(promise, 'name', { value: `linearizable(${name})` });
  const made: MadePromise = {
    nothing: linearizableText.nothing,
    hasCase: ({ operations }) => operations.length > 0,
  };
  return Object.assign(promise, made);
}

/** The name of such a promise, for where a function cannot be given: in a command line, or in another language. */
export type MadePromiseName = `linearizable(${ModelName})`;

/** The promises that can be named so. */
export const MADE_PROMISES: ReadonlyMap<string, ReturnType<typeof linearizable>> = new Map(
  (Object.keys(MODELS) as ModelName[]).map((name) => [`linearizable(${name})`, linearizable(name)]),
);
