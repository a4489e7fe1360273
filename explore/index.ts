/** The public API of lostlock/explore: finds what makes a lock fail, and tells the shortest story of each failure. */
import '../lab/router.ts';
import { badOption, checkFlag, checkNames, checkString } from '../base/options.ts';
import { checkTimelineFile, writeTimeline } from '../lab/timeline/write.ts';
import type { Timeline } from '../page/format.ts';
import { keepCompiled } from '../start/running/kept-code.ts';
import { anchored } from './anchors/choose.ts';
import { playText } from './anchors/play-text.ts';
import { replayText } from './anchors/replay-text.ts';
import { captured } from './capture.ts';
import { Explorer } from './explorer.ts';
import { reasonFor } from './faults/index.ts';
import { sorted } from './findings.ts';
import { type History, historyOf } from './history.ts';
import { judge } from './judge.ts';
import { corpusOf } from './kept-plans.ts';
import { loadedOptions } from './modules/client-file.ts';
import type { ExploreOptions, FullOptions } from './options.ts';
import { decodePlan, type WorldPlan } from './plan.ts';
import type { PlayedWorld } from './played-world.ts';
import type { ProgramOptions } from './programs/options.ts';
import type { ExploreReport } from './report.ts';
import { playOn } from './run.ts';
import { reducible } from './search/same-reason.ts';
import { survey } from './search/survey.ts';
import { NO_DISTANCE } from './stage/real-servers/client.ts';
import { startServersStage } from './stage/real-servers/stage.ts';
import { storyOf } from './story/story.ts';
import { replayedTimeline } from './timeline/replayed.ts';
import type { Breach, FindingEvent } from './visit.ts';
import { startWatchdog } from './watchdog.ts';

export type { Anchor } from './anchors/anchor.ts';
export type { Captured } from './capture.ts';
export type { ClientCode } from './client.ts';
export { FAULTS, type FaultName, type PlannedFault } from './faults/index.ts';
export type { History, HistoryMessage, HistoryWrite } from './history.ts';
export type { BrokenPromise, PromiseAnswer, UserPromise } from './judge.ts';
export type { ClientLife } from './lives.ts';
export { mergeReports } from './merging.ts';
export type { ModelName } from './operations/models.ts';
export type { OperationOutcome, RecordedOperation, Recording } from './operations/operation.ts';
export type { Budget, ExploreOptions, ExploreProgress } from './options.ts';
export type { ProgramOptions, ProgramProgress } from './programs/options.ts';
export { PROMISES, type PromiseName } from './promises/index.ts';
export { linearizable } from './promises/linearizable.ts';
export { type AssertNoneOptions, ExploreReport } from './report.ts';
export type {
  Asked,
  CorpusCoverage,
  Coverage,
  ExhaustiveCoverage,
  Finding,
  ProgramCoverage,
  ReportData,
} from './report-data.ts';
export type { FaultBound } from './search/bounds.ts';
export type { LeaseScale } from './search/leases.ts';
export type { ClientSession, InsideResource, ProtectedResource, ResourceOptions } from './session.ts';
export type { Topology } from './topology.ts';
export type { Inconclusive, InconclusiveKind, ReportVerdict } from './verdict.ts';
export type { Breach, EnterOptions, FindingEvent, Visit, VisitWrite } from './visit.ts';

/**
 * Explores the code of a lock's clients in many virtual worlds with faults, and reports every broken promise with the
 * shortest story of it. The same options with a budget in worlds give the same findings every time. What fails in a world, such
 * as an exception in a timer or real I/O, breaks the promise `no-error` and is a finding too. Rejects with TypeError for a wrong option and
 * when no client enters a resource without faults, and with what fails in that first world.
 */
export async function explore(options: ExploreOptions): Promise<ExploreReport>;
/**
 * Explores a program whose processes are the clients, in any language, in real time (docs/programs.md). Rejects with TypeError for a wrong
 * option, and when the world without faults is of no use.
 */
export async function explore(options: ProgramOptions): Promise<ExploreReport>;
export async function explore(options: ExploreOptions | ProgramOptions): Promise<ExploreReport> {
  if ('program' in options) return await (await import('./programs/explore.ts')).explorePrograms(options);
  const full = await loadedOptions(options);
  startWatchdog(full.budget.ms);
  const corpus = corpusOf(full);
  const report = await captured((output) => new Explorer(full, output, undefined, corpus).explore());
  keepCompiled();
  return report;
}

/** What a replayed world shows. */
export interface Replayed {
  /** The broken promises, without those that `accept` names. */
  readonly breaches: readonly Breach[];
  /** The events of the first breach's story. */
  readonly events: readonly FindingEvent[];
  /** The story as text. */
  readonly story: string;
  /** Everything that happened. */
  readonly history: History;
  /** The text of this world with faults that follow events, also when it was played from a text with times. */
  readonly replay: string;
  /** False when the trace is another one than that of the text: the code, a library or the lab has changed. */
  readonly sameTrace: boolean;
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
  /**
   * False accepts a trace that differs from the one that was found, as after a repair of the code. Default true. A fault that
   * does not strike what it struck then is refused in either case.
   */
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
 * `no-error`. Rejects when the trace is not the same one: then the code, its libraries or the lab have changed. Rejects with an
 * error of the code `LOSTLOCK_NO_LONGER_STRIKES` when an event that a fault follows does not happen any more, or the fault strikes
 * something else. A text of version 1, whose faults strike at fixed times, is played as it is; when the trace is another one, a
 * warning and the story say that. Rejects with TypeError for a text that is none, and for a world that cannot be played `on` real
 * servers: with Sentinels, a dialect, or faults of clocks.
 */
export async function replay(
  options: ExploreOptions,
  text: string,
  how: ReplayOptions = {},
): Promise<Replayed> {
  checkNames(how, ['sameTrace', 'on'], 'replay');
  const { sameTrace = true, on } = how;
  checkFlag('replay.sameTrace', sameTrace);
  const full = await loadedOptions(options);
  const decoded = decodePlan(text);
  if (decoded === undefined)
    throw badOption('replay', text, 'the text of a finding, such as 2:1:0:A,B::0123456789ab');
  if (on !== undefined) checkReal(on, full, decoded.plan);
  startWatchdog(full.budget.ms);
  return await captured(async () => {
    const { rules } = await survey(full);
    if (on !== undefined && rules.distant.size > 0)
      throw badOption('replay.on', on, `no value: ${NO_DISTANCE}`);
    let { world, isSameTrace } = await playText(rules, decoded);
    if (!isSameTrace) {
      // With `accept` worlds go on behind a broken promise, and without it they end there. The text may be of the other kind.
      const others = { ...rules, playOn: rules.playOn !== true };
      const other = await playText(others, decoded).catch(() => undefined);
      if (other?.isSameTrace === true) ({ world, isSameTrace } = other);
    }
    if (sameTrace && !isSameTrace) {
      const error = new Error(
        `this world does not repeat: its trace is ${world.hash().slice(0, 12)} and was ${decoded.hash}. ` +
          'The code, a library or the lab has changed since, or the code is not deterministic',
      );
      throw Object.assign(error, { code: 'LOSTLOCK_NO_WORLD' });
    }
    const isOld = decoded.byTime && !isSameTrace;
    if (isOld) process.emitWarning(OTHER_TRACE, { code: 'LOSTLOCK_OTHER_TRACE' });
    const about = { replay: replayOf(world, full), isSameTrace, remark: isOld ? OTHER_TRACE : '' };
    if (on === undefined) return replayed(full, world, '', about);
    const real = await playOn(await startServersStage(rules.topology, world, on), rules, world.plan);
    const where = ` on ${on}${real.ordered === true ? '' : ', in another order'}`;
    return replayed(full, real, where, about);
  });
}

/** What is said of a text of version 1 whose world has another trace now. */
const OTHER_TRACE =
  'The faults of this replay text strike at fixed times, and its trace is another one now: they may strike something else than ' +
  'what was found. Take a new text, whose faults follow events, from a new exploration.';

/** The breaches of a world that are not accepted. */
function brokenIn(world: PlayedWorld, { promises, own, accept }: FullOptions): Breach[] {
  return sorted(world, judge(world, promises, own), accept).others.map(({ breach }) => breach);
}

/** The text of a world by events, whatever it was played from. */
function replayOf(world: PlayedWorld, full: FullOptions): string {
  const [breach] = brokenIn(world, full);
  const { plan } = world;
  const actors = breach === undefined ? new Set<string>() : reducible({ plan, world, breach }).actors;
  return replayText({ ...world, plan: anchored(world, actors) });
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

/** What `replayed` is told about the virtual world. */
interface AboutReplay {
  readonly replay: string;
  readonly isSameTrace: boolean;
  /** What the story has to say besides. */
  readonly remark: string;
}

function replayed(
  full: FullOptions,
  world: PlayedWorld,
  where: string,
  { replay: text, isSameTrace, remark }: AboutReplay,
): Replayed {
  const breaches = brokenIn(world, full);
  const [first] = breaches;
  const what = first === undefined ? 'no promise is broken' : `${first.promise} is broken`;
  const title = `${full.name}: ${what}${where}`;
  const { events, text: story } =
    first === undefined ? { events: [], text: title } : storyOf(world, first, title);
  const timelineData = (): Promise<Timeline> => replayedTimeline(full, world.plan, text);
  return {
    ...{ breaches, events, replay: text, sameTrace: isSameTrace },
    story: remark === '' ? story : `${story}\n${remark}`,
    history: historyOf(world),
    timelineData,
    timeline: async (file) => {
      checkTimelineFile('timeline', file);
      await writeTimeline(file, [await timelineData()]);
    },
  };
}
