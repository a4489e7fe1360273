/** The public API of lostlock/explore: finds what makes a lock fail, and tells the shortest story of each failure. */
import '../lab/router.ts';
import { badOption, checkFlag, checkNames, checkString } from '../base/options.ts';
import { checkTimelineFile, writeTimeline } from '../lab/timeline/write.ts';
import type { Timeline } from '../page/format.ts';
import { captured } from './capture.ts';
import { Explorer } from './explorer.ts';
import { reasonFor } from './faults/index.ts';
import { type History, historyOf } from './history.ts';
import { judge } from './judge.ts';
import { type ExploreOptions, type FullOptions, fullOptions } from './options.ts';
import { decodePlan, NO_HASH, type WorldPlan } from './plan.ts';
import { playWorld } from './play.ts';
import type { PlayedWorld } from './played-world.ts';
import type { ExploreReport } from './report.ts';
import { playOn } from './run.ts';
import { survey } from './search/survey.ts';
import { NO_DISTANCE } from './stage/real-servers/client.ts';
import { startServersStage } from './stage/real-servers/stage.ts';
import { eventsOf, type FindingEvent, storyText } from './story.ts';
import { replayedTimeline } from './timeline/replayed.ts';
import type { Breach } from './visit.ts';

export type { Captured } from './capture.ts';
export type { ClientCode } from './client.ts';
export { FAULTS, type FaultName, type PlannedFault } from './faults/index.ts';
export type { History, HistoryMessage, HistoryWrite } from './history.ts';
export type { UserPromise } from './judge.ts';
export { mergeReports } from './merging.ts';
export type { Budget, ExploreOptions, ExploreProgress } from './options.ts';
export { PROMISES, type PromiseName } from './promises/index.ts';
export { ExploreReport } from './report.ts';
export type { Asked, Coverage, Finding, ReportData } from './report-data.ts';
export type { FaultBound } from './search/bounds.ts';
export type { LeaseScale } from './search/leases.ts';
export type { ClientSession, InsideResource, ProtectedResource, ResourceOptions } from './session.ts';
export type { FindingEvent } from './story.ts';
export type { Topology } from './topology.ts';
export type { Breach, EnterOptions, Visit, VisitWrite } from './visit.ts';

/**
 * Explores the code of a lock's clients in many virtual worlds with faults, and reports every broken promise with the
 * shortest story of it. The same options with a budget in worlds give the same findings every time. What fails in a world, such
 * as an exception in a timer or real I/O, breaks the promise `no-error` and is a finding too. Rejects with TypeError for a wrong option and
 * when no client enters a resource without faults, and with what fails in that first world.
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
  /**
   * Plays the virtual world once more, past the broken promise, and returns its timeline (docs/timeline.md). A world on
   * real servers is shown as it went in virtual time.
   */
  timelineData(): Promise<Timeline>;
  /**
   * Writes that timeline: a self-contained page for a browser (a name that ends in `.html`), or its data (`.json`).
   * Rejects with TypeError for another name.
   */
  timeline(file: string): Promise<void>;
}

/** How to play a world again. */
export interface ReplayOptions {
  /** False accepts a trace that differs from the one that was found, as after a repair of the code. Default true. */
  readonly sameTrace?: boolean;
  /**
   * A program that takes redis-server's arguments, such as 'redis-server'. Then the world is played on real processes
   * as well, behind the lab's links and on the real clock, and the result is theirs. Faults strike between the same
   * acts of the clients as in the virtual world; a client whose turn it is not yet is held up.
   */
  readonly on?: string;
}

/**
 * Plays one world again from the text of a finding, with the same options. What fails in the world is a breach of
 * `no-error`. Rejects when the trace is not the same one: then the code, its libraries or the lab have changed. Rejects with
 * TypeError for a text that is none, and for a world that cannot be played `on` real servers: with Sentinels, a dialect, or
 * faults of clocks.
 */
export async function replay(
  options: ExploreOptions,
  text: string,
  how: ReplayOptions = {},
): Promise<Replayed> {
  checkNames(how, ['sameTrace', 'on'], 'replay');
  const { sameTrace = true, on } = how;
  checkFlag('replay.sameTrace', sameTrace);
  const full = fullOptions(options);
  const decoded = decodePlan(text);
  if (decoded === undefined)
    throw badOption('replay', text, 'the text of a finding, such as 1:1:0:A,B::0123456789ab');
  const { plan } = decoded;
  if (on !== undefined) checkReal(on, full, plan);
  return await captured(async () => {
    const { rules } = await survey(full);
    if (on !== undefined && rules.distant.size > 0)
      throw badOption('replay.on', on, `no value: ${NO_DISTANCE}`);
    const world = await playWorld(rules, plan);
    const hash = world.hash();
    // A world that fails is told as it is: its trace says less than what failed.
    const isCompared = sameTrace && decoded.hash !== NO_HASH && world.failure === undefined;
    if (isCompared && !hash.startsWith(decoded.hash)) {
      const error = new Error(
        `this world does not repeat: its trace is ${hash.slice(0, 12)} and was ${decoded.hash}. ` +
          'The code, a library or the lab has changed since, or the code is not deterministic',
      );
      throw Object.assign(error, { code: 'LOSTLOCK_NO_WORLD' });
    }
    if (on === undefined) return replayed(full, text, world, '');
    const real = await playOn(await startServersStage(rules.topology, world, on), rules, plan);
    return replayed(full, text, real, ` on ${on}${real.ordered === true ? '' : ', in another order'}`);
  });
}

/** Throws TypeError for what cannot be played on real servers. */
function checkReal(on: string, { topology }: FullOptions, { faults }: WorldPlan): void {
  checkString('replay.on', on);
  for (const name of ['sentinels', 'dialect'] as const) {
    if (topology[name] !== undefined)
      throw badOption(`topology.${name}`, topology[name], 'no value together with replay.on');
  }
  for (const { kind } of faults) {
    const reason = reasonFor(kind, 'real servers');
    if (reason !== undefined) throw badOption('replay.on', on, `no value with ${kind}: ${reason}`);
  }
}

function replayed(full: FullOptions, text: string, world: PlayedWorld, where: string): Replayed {
  const breaches = judge(world, full.promises, full.own);
  const [first] = breaches;
  const events = first === undefined ? [] : eventsOf(world, first);
  const what = first === undefined ? 'no promise is broken' : `${first.promise} is broken`;
  const timelineData = (): Promise<Timeline> => replayedTimeline(full, world.plan, text);
  return {
    breaches,
    events,
    story: storyText(`${full.name}: ${what}${where}`, events),
    history: historyOf(world),
    timelineData,
    timeline: async (file) => {
      checkTimelineFile('timeline', file);
      await writeTimeline(file, [await timelineData()]);
    },
  };
}
