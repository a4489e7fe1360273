/** Plays one world of a program, and says in sentences what it breaks. */
import { causeOf } from '../../../explore/cause/cause.ts';
import type { ProgramOptions } from '../../../explore/index.ts';
import { judge } from '../../../explore/judge.ts';
import { decodePlan, type WorldPlan } from '../../../explore/plan.ts';
import { ProgramExplorer } from '../../../explore/programs/explorer.ts';
import { fullProgramOptions } from '../../../explore/programs/options.ts';
import { sentenceOf } from '../../../explore/story/sentence.ts';

/** What the world of this fault breaks. @param fault as a replay text has it */
export async function brokenBy(options: ProgramOptions, fault: string): Promise<string[]> {
  const full = fullProgramOptions(options);
  const clients = full.full.clients.join();
  const { plan } = decodePlan(`2:1:0:${clients}:${fault}:000000000000`) as { readonly plan: WorldPlan };
  const { world } = await new ProgramExplorer(full).replay(plan);
  return judge(world, full.full.promises, full.full.own).map((breach) =>
    sentenceOf(causeOf(world, breach), breach),
  );
}
