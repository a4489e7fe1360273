/** The two libraries of the process: one for each form that scripts run in. */
import { createRealm } from './index.ts';

export const FAST = createRealm('fast');
export const RESUMABLE = createRealm('resumable');
