/** The public API of lostlock/explore: finds what makes a lock fail, and tells the shortest story of each failure. */
import '../lab/router.ts';
import { badOption, checkNames } from '../embed/options.ts';
import { captured } from './capture.ts';
import { Explorer, survey } from './explorer.ts';
import { playWorld } from './game.ts';
import { type History, historyOf } from './history.ts';
import { judge } from './judge.ts';
import type { Breach } from './ledger.ts';
import { type ExploreOptions, fullOptions } from './options.ts';
import { decodePlan } from './plan.ts';
import type { ExploreReport } from './report.ts';
import { eventsOf, type FindingEvent, storyText } from './story.ts';

export type { Captured } from './capture.ts';
export type { History, HistoryMessage, HistoryWrite } from './history.ts';
export type { UserPromise } from './judge.ts';
export type { Breach, EnterOptions, Visit } from './ledger.ts';
export type { FaultName, PromiseName } from './names.ts';
export type { Budget, ExploreOptions, ExploreProgress } from './options.ts';
export type { PlannedFault } from './plan.ts';
export type { ClientCode } from './player.ts';
export { type Coverage, ExploreReport, type Finding, mergeReports, type ReportData } from './report.ts';
export type { ClientSession, InsideResource, ProtectedResource, ResourceOptions } from './session.ts';
export type { FindingEvent } from './story.ts';
export type { Topology } from './topology.ts';

/**
 * Explores the code of a lock's clients in many virtual worlds with faults, and reports every broken promise with the
 * shortest story of it. The same options with a budget in worlds find the same every time. Rejects with TypeError for a
 * wrong option, when no client enters a resource without faults, and when the code starts real I/O in a world.
 */
export async function explore(options: ExploreOptions): Promise<ExploreReport> {
  const full = fullOptions(options);
  return await captured((output) => new Explorer(full, output).explore());
}

/** What a replayed world shows. */
export interface Replayed {
  /** The broken promises. */
  readonly breaches: readonly Breach[];
  /** The events of the first breach's story. */
  readonly events: readonly FindingEvent[];
  /** The story as text. */
  readonly story: string;
  /** Everything that happened. */
  readonly history: History;
}

/** How to play a world again. */
export interface ReplayOptions {
  /** False accepts a trace that differs from the one that was found, as after a repair of the code. Default true. */
  readonly sameTrace?: boolean;
}

/**
 * Plays one world again from the text of a finding, with the same options. Rejects when its trace is not the same one:
 * then the code, its libraries or the lab have changed. Rejects with TypeError for a text that is none.
 */
export async function replay(
  options: ExploreOptions,
  text: string,
  how: ReplayOptions = {},
): Promise<Replayed> {
  checkNames(how, ['sameTrace'], 'replay');
  const full = fullOptions(options);
  const decoded = decodePlan(text);
  if (decoded === undefined)
    throw badOption('replay', text, 'the text of a finding, such as 1:1:0:A,B::0123456789ab');
  return await captured(async () => {
    const { rules } = await survey(full);
    const world = await playWorld(rules, decoded.plan);
    const hash = world.hash();
    if (how.sameTrace !== false && !hash.startsWith(decoded.hash)) {
      throw new Error(
        `this world does not repeat: its trace is ${hash.slice(0, 12)} and was ${decoded.hash}. ` +
          'The code, a library or the lab has changed since, or the code is not deterministic',
      );
    }
    const breaches = judge(world, full.promises, full.own);
    const [first] = breaches;
    const events = first === undefined ? [] : eventsOf(world, first);
    const title =
      first === undefined ? `${full.name}: no promise is broken` : `${full.name}: ${first.promise} is broken`;
    return { breaches, events, story: storyText(title, events), history: historyOf(world) };
  });
}
