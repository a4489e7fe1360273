/** All reported failures, each as a broken program and a sound twin. */
import { histories } from './histories.ts';
import { twice } from './once.ts';
import { released } from './released.ts';
import type { ReportedFailure } from './report.ts';
import { served } from './served.ts';
import { refusals } from './waiting.ts';

export const reported: readonly ReportedFailure[] = [
  ...[...served, ...released, ...twice, ...histories, ...refusals],
];
