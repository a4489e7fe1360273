/** `npm run explore:mutants`: plants one defect at a time in our locks and in a sample library, and explores each. */
import { defined } from '../../base/defined.ts';
import '../../lab/router.ts';
import { parseArgs } from 'node:util';
import { type ExploreOptions, explore, type FaultName } from '../../explore/index.ts';
import type { LockScript } from '../../locks/scripts/define.ts';
import { fencedAcquireScript } from '../../locks/scripts/fenced.ts';
import { readAcquireScript } from '../../locks/scripts/read-write.ts';
import {
  reentrantAcquireScript,
  reentrantFreeScript,
  reentrantReleaseScript,
} from '../../locks/scripts/reentrant.ts';
import { simpleAcquireScript, simpleReleaseScript } from '../../locks/scripts/simple.ts';
import { defects } from './defects.ts';
import { type Mutant, ownMutants, sampleMutants } from './mutants.ts';
import { edited, plantInScript } from './planting.ts';
import { sampleHabits, sampleScripts } from './sample.ts';
import { clientsOf, subjects } from './subjects.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '200' }, only: { type: 'string' } },
});

/** What a lock on one server with one replica survives, if it is right: no write is lost. */
const FAULTS: readonly FaultName[] = [
  ...(['client-pause', 'client-death', 'partition', 'delay', 'lost-request', 'lost-reply'] as const),
  ...(['connection-reset', 'node-pause', 'restart-disk', 'script-flush', 'busy', 'out-of-memory'] as const),
];

/** One defect, with what is explored. */
interface Case extends Pick<ExploreOptions, 'client' | 'faults' | 'promises' | 'clients'> {
  readonly subject: string;
  readonly title: string;
  readonly plant: () => () => void;
  readonly harmless?: string;
}

const scripts: readonly LockScript[] = [
  ...[simpleAcquireScript, simpleReleaseScript, reentrantAcquireScript, reentrantReleaseScript],
  ...[reentrantFreeScript, fencedAcquireScript, readAcquireScript],
];

/** Plants a defect. Returns what removes it. Throws when the text to replace is not there. */
function plant({ where, find, replace }: Mutant): () => void {
  if (where === 'habits') {
    const habits = sampleHabits as Record<string, unknown>;
    const before = habits[find];
    habits[find] = replace === '' ? false : Number(replace);
    return () => {
      habits[find] = before;
    };
  }
  if (where in sampleScripts) {
    const name = where as keyof typeof sampleScripts;
    const before = sampleScripts[name];
    sampleScripts[name] = edited(before, find, replace);
    return () => {
      sampleScripts[name] = before;
    };
  }
  return plantInScript(scripts.find(({ name }) => name === where) as LockScript, find, replace);
}

const cases: readonly Case[] = [
  ...[...ownMutants, ...sampleMutants].map(
    (mutant): Case => ({
      ...{ subject: mutant.subject, client: subjects[mutant.subject], clients: clientsOf(mutant.subject) },
      title: `${mutant.where}: ${mutant.find} -> ${mutant.replace}`.replaceAll('\n', ' '),
      plant: () => plant(mutant),
      ...defined({ harmless: mutant.harmless }),
    }),
  ),
  ...defects.map((defect): Case => ({ ...defect, subject: 'defects', title: defect.name })),
];

/** Explores until something is found. Returns what. */
async function search({
  title,
  client,
  clients = 3,
  faults = FAULTS,
  promises,
}: Case): Promise<string | undefined> {
  const stop = new AbortController();
  const report = await explore({
    ...{ name: title, client, clients, faults, signal: stop.signal },
    ...defined({ promises }),
    budget: { worlds: Number(values.worlds), ms: Infinity },
    progress: ({ findings }) => {
      if (findings > 0) stop.abort();
    },
  }).catch((error: Error) => error);
  // A mutant that never grants anything is found in the first world.
  if (report instanceof Error) return report.message.split('\n')[0];
  const [finding] = report.findings.filter(({ promise }) => promise !== 'contended');
  return finding && `${finding.promise} (${finding.cause}) in world ${finding.firstIn}`;
}

const all = cases.filter(({ subject }) => values.only === undefined || subject === values.only);
let wrong = 0;
const explored = new Set<Case['client']>();
for (const each of all) {
  if (explored.has(each.client)) continue;
  explored.add(each.client);
  const found = await search(each);
  if (found !== undefined) wrong++;
  const title = each.subject === 'defects' ? `${each.subject} (${each.title[0]})` : each.subject;
  console.log(
    `${found === undefined ? 'nothing, as expected' : 'NOT EXPECTED'}  ${title} without a defect: ${found ?? ''}`,
  );
}
let found = 0;
const missed: Case[] = [];
for (const each of all) {
  const remove = each.plant();
  const what = await search(each);
  remove();
  if (what === undefined) missed.push(each);
  else found++;
  console.log(
    `${what === undefined ? 'not found' : 'found    '}  ${each.title}: ${what ?? each.harmless ?? 'NOT EXPLAINED'}`,
  );
}
const unexplained = missed.filter(({ harmless }) => harmless === undefined).length;
console.log(
  `${found} of ${all.length} defects found; ${missed.length} not found, ${unexplained} of them not explained; ${wrong} findings without a defect`,
);
if (unexplained + wrong > 0) process.exitCode = 1;
