/** Plays one form of a case with the default options, and says what was found. */
import { defined } from '../../base/defined.ts';
import { type ExploreReport, explore, type Finding } from '../../explore/index.ts';
import type { RecallCase, RecallClient } from './case.ts';

/** What an exploration says about a form. */
export interface RecallResult {
  readonly verdict: 'found' | 'missed' | 'clean' | 'false alarm';
  /** The world that showed it first; how many were played when nothing was found. */
  readonly world: number;
  /** The finding, in words. */
  readonly what: string;
  /** What `lease-limits` names, in words: printed, and no finding. */
  readonly accepted: readonly string[];
  /** The story of a false alarm. */
  readonly story?: string;
}

/** In so many worlds a defect has to be found. */
export const WORLDS = 2000;

/** What breaks when a model throws: that shows a mistake of the model, and not the defect. */
const NO_ERROR = 'no-error';

/** Plays the form with the defect until it is found. */
export async function playUnsafe(each: RecallCase, worlds: number): Promise<RecallResult> {
  const isWanted = (promise: string): boolean => each.shows?.includes(promise) ?? promise !== NO_ERROR;
  const accept = each.isLimit === true ? [] : ['lease-limits'];
  const report = await played(each, each.unsafe as RecallClient, worlds, accept, isWanted);
  const accepted = report.accepted.map(textOf);
  if (each.isCalmError === true) {
    const told = report.reasons.find(({ kind }) => kind === 'calm-error');
    return { verdict: told === undefined ? 'missed' : 'found', world: 1, what: told?.what ?? '', accepted };
  }
  const found = report.findings.find(({ promise }) => isWanted(promise));
  if (found !== undefined) return { verdict: 'found', world: found.firstIn, what: textOf(found), accepted };
  const others = report.findings.map(textOf).join('; ');
  const what = others === '' ? '' : `only ${others}`;
  return { verdict: 'missed', world: report.worlds, what, accepted };
}

/** Plays the sound form, in which nothing may be found but limits of leases. */
export async function playSound(each: RecallCase, worlds: number): Promise<RecallResult> {
  const client = each.sound as RecallClient;
  const report = await played(each, client, worlds, ['lease-limits'], () => true);
  const accepted = report.accepted.map(textOf);
  const [alarm] = report.findings;
  if (alarm === undefined) return { verdict: 'clean', world: report.worlds, what: '', accepted };
  const { firstIn, story, replay } = alarm;
  return {
    ...{ verdict: 'false alarm', world: firstIn, what: textOf(alarm), accepted },
    story: `${story}\nreplay: ${replay}`,
  };
}

/** Explores until a wanted promise breaks. */
async function played(
  { name, topology, clients, promises, part = 1 }: RecallCase,
  client: RecallClient,
  worlds: number,
  accept: readonly string[],
  isWanted: (promise: string) => boolean,
): Promise<ExploreReport> {
  const stop = new AbortController();
  return await explore({
    ...{ name, client, accept, ...defined({ topology, clients, promises }) },
    ...{ budget: { worlds: Math.ceil(worlds * part), ms: Infinity }, signal: stop.signal },
    progress: ({ coverage }) => {
      if (Object.values(coverage.broken).some((counts) => Object.keys(counts).some(isWanted))) stop.abort();
    },
  });
}

function textOf({ promise, cause, fingerprint }: Finding): string {
  return `${promise} by ${cause} [${fingerprint}]`;
}
