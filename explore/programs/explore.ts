/** Explores programs with the options of `explore`. */
import type { ExploreReport } from '../report.ts';
import { ProgramExplorer } from './explorer.ts';
import { fullProgramOptions, type ProgramOptions } from './options.ts';

/** Explores a program. Rejects with TypeError for a wrong option, and when the world without faults is of no use. */
export async function explorePrograms(options: ProgramOptions): Promise<ExploreReport> {
  return await new ProgramExplorer(fullProgramOptions(options)).explore();
}
