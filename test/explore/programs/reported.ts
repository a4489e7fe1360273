/** Failures of public reports as Python programs (reported.py), each with the faults that its example names and the promises it is about. */
import { join } from 'node:path';
import type { FaultName, ProgramOptions, PromiseName } from '../../../explore/index.ts';

/** One failure, and its twin without the flaw. */
export interface ReportedProgram {
  /** The function in reported.py. */
  readonly name: string;
  /** Where it was reported. */
  readonly report: string;
  readonly faults: readonly FaultName[];
  readonly promises: readonly PromiseName[];
  readonly clients?: number;
  /** A fault that breaks it, as a replay text has it. */
  readonly fault?: string;
  /** What the sentence of the finding must name. */
  readonly cause: RegExp;
}

/** They were written down before the search was tuned, and none is taken out. */
export const REPORTED: readonly ReportedProgram[] = [
  {
    name: 'release_by_del',
    report: 'laravel/framework #26213, #20709',
    faults: ['client-pause'],
    promises: ['released-by-holder'],
    fault: 'client-pause@A.leaves.stock.1/A/2500//entered',
    cause: /DEL/i,
  },
  {
    name: 'setnx_then_expire',
    report: 'redis/redis-py #554, #818',
    faults: ['client-death'],
    promises: ['no-orphan'],
    fault: 'client-death@A.SETNX.stock~lock.1.executed/A',
    cause: /SETNX|without a lease|no lease|dies/i,
  },
  {
    name: 'get_then_del',
    report: 'redis/redis-py PR #1031',
    faults: ['client-pause'],
    promises: ['released-by-holder'],
    fault: 'client-pause@A.GET.stock~lock.1.executed/A/2500//entered',
    cause: /DEL/i,
  },
  {
    name: 'swallowed_error',
    report: 'sibson/redbeat #208, #238',
    faults: ['out-of-memory', 'read-only'],
    promises: ['mutual-exclusion'],
    fault: 'out-of-memory@A.SET.stock~lock.1.executed/redis-1/300',
    cause: /OOM|READONLY/,
  },
  {
    name: 'candidate_clears_lease',
    report: 'dv/redis-semaphore #23',
    faults: ['client-death'],
    promises: ['no-orphan'],
    fault: 'client-death@A.GETSET.stock~lock.1.executed/A',
    cause: /GETSET|lease|dies/i,
  },
  {
    name: 'permit_returned_twice',
    report: 'dv/redis-semaphore #58, #13, #49',
    faults: ['lost-reply'],
    promises: ['permits'],
    clients: 4,
    cause: /RPUSH|permit/i,
  },
  {
    name: 'script_not_loaded_again',
    report: 'symfony #59686, CSenshi/nestjs-redis #15',
    faults: ['script-flush'],
    promises: ['everyone-served', 'progress'],
    cause: /NOSCRIPT|EVALSHA/,
  },
  {
    name: 'tick_runs_twice',
    report: 'ShedLock #6, laravel PR #20021',
    faults: ['client-pause'],
    promises: ['once'],
    cause: /tick 1/,
  },
  {
    name: 'reaper',
    report: 'sidekiq-unique-jobs #580, #779',
    faults: ['client-pause'],
    promises: ['released-by-holder'],
    cause: /DEL/i,
  },
  {
    name: 'failover_loses_lock',
    report: 'aphyr, Jepsen Redis (2013)',
    faults: ['failover-behind'],
    promises: ['mutual-exclusion'],
    cause: /lost|crash|failover|promoted/i,
  },
];

/** The exploration of one of them. */
export function explorationOf(
  { name, faults, promises, clients = 3 }: ReportedProgram,
  kind: 'flawed' | 'sound',
): ProgramOptions {
  return {
    ...{ name: `${name} (${kind})`, faults, promises, clients },
    program: ['python3', join(import.meta.dirname, 'reported.py'), name, kind],
  };
}
