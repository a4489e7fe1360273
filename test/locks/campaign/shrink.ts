/** Reduces a plan that breaks a promise, by leaving out faults, tasks, lives and steps one at a time. */

import type { Life, Plan, Step, TaskPlan } from './plan.ts';
import { type Outcome, type PlayOptions, play } from './play.ts';

/** A plan and its result. */
export interface Found {
  readonly plan: Plan;
  readonly outcome: Outcome;
}

/** The most worlds that are tried. */
const TRIES = 400;

/** The smallest plan found that breaks one of the same rules. @param outcome of the plan as it is */
export async function shrink(plan: Plan, outcome: Outcome, options: PlayOptions = {}): Promise<Found> {
  const rules = new Set(outcome.violations.map(({ rule }) => rule));
  let found: Found = { plan, outcome };
  let left = TRIES;
  const fails = async (smaller: Plan): Promise<boolean> => {
    left--;
    const result = await play(smaller, options);
    if (!result.violations.some(({ rule }) => rules.has(rule))) return false;
    found = { plan: smaller, outcome: result };
    return true;
  };
  for (let progress = true; progress && left > 0; ) {
    progress = false;
    for (const without of cuts) {
      for (let index = 0; left > 0; ) {
        const smaller = without(found.plan, index);
        if (smaller === undefined) break;
        if (await fails(smaller)) progress = true;
        else index++;
      }
    }
  }
  return found;
}

/** Each leaves out one item of its kind, by index; undefined when there is none at that index. */
type Cut = (plan: Plan, index: number) => Plan | undefined;

const cuts: readonly Cut[] = [
  (plan, index) => {
    const tasks = except(plan.tasks, index);
    return tasks && { ...plan, tasks };
  },
  (plan, index) => {
    const faults = except(plan.faults, index);
    return faults && { ...plan, faults };
  },
  (plan, index) => edit(plan, index, 'life'),
  (plan, index) => edit(plan, index, 'step'),
];

function except<T>(all: readonly T[], index: number): T[] | undefined {
  return index < all.length ? all.filter((_, at) => at !== index) : undefined;
}

/** Leaves out the life or step at that index, counted through all tasks and nested lives. */
function edit(plan: Plan, index: number, sort: 'life' | 'step'): Plan | undefined {
  let at = -1;
  const editLives = (lives: readonly Life[]): Life[] =>
    lives.flatMap((life) => {
      if (sort === 'life' && ++at === index) return [];
      return [{ ...life, steps: life.steps.flatMap(editStep) }];
    });
  const editStep = (step: Step): Step[] => {
    if (step.do === 'nest') {
      const [life] = editLives([step.life]);
      return life ? [{ ...step, life }] : [];
    }
    return sort === 'step' && ++at === index ? [] : [step];
  };
  const tasks = plan.tasks.map((task): TaskPlan => ({ ...task, lives: editLives(task.lives) }));
  return at < index ? undefined : { ...plan, tasks };
}
