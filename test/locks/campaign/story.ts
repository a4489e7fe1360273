/** Describes what went wrong in a world: its settings, the shortest story that shows it, and how to replay it. */
import { draw } from './draw.ts';
import type { Plan } from './plan.ts';
import { describeFault } from './plan.ts';
import type { Outcome, PlayOptions } from './play.ts';
import { shrink } from './shrink.ts';

/** The story, with the reduced plan. */
export async function tellStory(plan: Plan, outcome: Outcome, options: PlayOptions = {}): Promise<string> {
  const small = outcome.violations.length > 0 ? await shrink(plan, outcome, options) : { plan, outcome };
  const { seed, kind, parts, primaries, replicas, settings, clients, units } = small.plan;
  const planted = options.plant === undefined ? '' : ` --plant '${options.plant}'`;
  const drawn = draw(seed).kind === kind ? '' : ` --kind '${kind}'`;
  return [
    '',
    `seed ${seed}: ${kind}${parts.length > 0 ? ` of ${parts.join(' and ')}` : ''}, ${units} units`,
    `servers: ${primaries} with ${replicas} replicas each; clients: ${clients.join(', ')}`,
    `settings: ${JSON.stringify(settings)}`,
    ...small.plan.faults.map(describeFault),
    ...small.outcome.story,
    `again: npm run campaign -- --replay ${seed}${drawn}${planted}`,
  ].join('\n');
}
