/** All cases of recall: the specimens of the catalogue, the public reports, and programs. */
import { defined } from '../../base/defined.ts';
import { specimens } from '../specimens/list.ts';
import { reported } from '../specimens/reported/index.ts';
import { crossSlot } from '../specimens/reported/waiting.ts';
import { reportModels } from '../stories/reports.ts';
import type { RecallCase } from './case.ts';
import { ourLocks } from './ours.ts';
import { programs } from './programs.ts';
import { soundPrograms } from './sound.ts';

/** Worlds of a cluster take about twenty times as long. */
const CLUSTER = 0.25;

/** Mistakes that a lease alone cannot keep out, and that only a fence does: `accept: 'lease-limits'` names what they show. */
const LIMITS: readonly string[] = [
  'S10',
  'S16',
  'S20',
  'S30',
  'S31',
  'S34',
  'S35',
  'S36b',
  'S59',
  'S63',
  'S106',
];
/** The same for reports. */
const LIMIT_REPORTS: readonly string[] = [
  ...['redsync #149, #147', 'aphyr, Jepsen: Redis and Sentinel (2013)', 'rate-limiter-flexible 11.4.0'],
  ...['redis-semaphore #9, #24', 'the classic lost update'],
];

/** What no model shows, and why. */
export const leftOut: readonly { readonly name: string; readonly why: string }[] = [
  {
    name: 'e2b PR #2594, rueidis #372, #602',
    why: 'it is about the number of requests: no promise of a lock breaks',
  },
];

/**
 * The reports whose sound twin nothing breaks. The twins of the others mend only what the report is about. Other faults break them: they
 * have no lease, a release without a token, or a mark that is lost with its server.
 */
const SOUND_TWINS: readonly string[] = [
  ...['symfony #59686, CSenshi/nestjs-redis #15, upstash/ratelimit-js #122', 'redis-py PR #1031'],
  ...['laravel/framework #26213, #20709', 'sidekiq-unique-jobs #580, #779', 'node-redlock #11'],
  ...['redisson #4214, redis-py #3543', 'rate-limiter-flexible 11.4.0'],
];

/** All of them, each sound form once. */
export function recallCases(): RecallCase[] {
  const seen = new Set<unknown>();
  const onlyNew = (each: RecallCase): RecallCase => {
    const { sound, ...rest } = each;
    if (sound === undefined || seen.has(sound)) return rest;
    seen.add(sound);
    return each;
  };
  return [...ofSpecimens(), ...ofReports(), ...programs, ...soundPrograms, ...ourLocks].map(onlyNew);
}

function ofSpecimens(): RecallCase[] {
  return specimens.map(({ number, unsafe, safe, topology }) => ({
    ...{ name: number, group: 'specimen' as const, unsafe, sound: safe, ...defined({ topology }) },
    ...(topology?.cluster !== undefined && { part: CLUSTER }),
    ...(LIMITS.includes(number) && { isLimit: true }),
  }));
}

function ofReports(): RecallCase[] {
  const twins = reported.map(({ source, unsafe, sound, breaks, promises, topology, clients }) => ({
    ...{ name: source, group: 'report' as const, unsafe, shows: [breaks] },
    ...(SOUND_TWINS.includes(source) && { sound }),
    ...defined({ promises, topology, clients }),
    ...(LIMIT_REPORTS.includes(source) && { isLimit: true }),
  }));
  const known = new Set(twins.map(({ name }) => name));
  const models = reportModels
    .filter(({ report }) => !known.has(report))
    .map(({ report, client, topology, clients }) => ({
      ...{ name: report, group: 'report' as const, unsafe: client, ...defined({ topology, clients }) },
      ...(LIMIT_REPORTS.includes(report) && { isLimit: true }),
    }));
  const slots: RecallCase = {
    ...{
      name: 'python-redis-lock #59, redisson #1098, bull #459',
      group: 'report',
      ...crossSlot,
      isCalmError: true,
    },
    ...{ topology: { cluster: 3, replicas: 1 }, part: CLUSTER },
  };
  return [...twins, ...models, slots];
}
