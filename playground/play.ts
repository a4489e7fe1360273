/** Plays a case of the playground, in Node and in a browser's worker alike, and searches for the faults that break its lock. */
import { createHash } from 'node:crypto';
import { anchored } from '../explore/anchors/choose.ts';
import { timedPlan } from '../explore/anchors/play-text.ts';
import { replayText } from '../explore/anchors/replay-text.ts';
import type { ClientCode } from '../explore/client.ts';
import { Explorer } from '../explore/explorer.ts';
import type { PlannedFault } from '../explore/faults/index.ts';
import { judge } from '../explore/judge.ts';
import { type FullOptions, fullOptions } from '../explore/options.ts';
import { decodePlan, type WorldPlan } from '../explore/plan.ts';
import { playWorld } from '../explore/play.ts';
import type { PlayedWorld } from '../explore/played-world.ts';
import { brokenText } from '../explore/promises/broken.ts';
import { survey } from '../explore/search/survey.ts';
import { playedTimeline } from '../explore/timeline/played.ts';
import type { Topology } from '../explore/topology.ts';
import { PROBE } from '../explore/visit.ts';
import { namedStories } from '../lab/demo/stories.ts';
import { createLocks } from '../locks/index.ts';
import type { Timeline, TimelineVerdict } from '../page/format.ts';
import type { PlayCase, PlayStep } from './cases/case.ts';
import { playLocks } from './cases/locks.ts';
import type { FoundCase, PlayedCase } from './cases/messages.ts';
import { compileBody } from './typescript.ts';

/** How many worlds a search plays at most. */
export const WORLDS = 1500;

const topologies: Readonly<Record<string, Topology>> = {
  pair: { replicas: 1 },
  two: { replicas: 2 },
  three: { primaries: 3 },
  five: { primaries: 5 },
  sentinels: { replicas: 2, sentinels: 3 },
  cluster: { cluster: 3, replicas: 1 },
};

/** What the code of clients may use. */
const NAMES = ['name', 'redis', 'servers', 'urls', 'connect', 'sleep', 'resource', 'signal'] as const;

/** The clients' code. Throws SyntaxError with the line for what is neither JavaScript nor TypeScript. */
function compile(code: string): ClientCode {
  const body = compileBody([...NAMES, 'createLocks'], code);
  return (session) => body(...NAMES.map((name) => session[name]), createLocks);
}

function optionsOf({ lock, nodes, clients, code, seed }: PlayCase): FullOptions {
  const topology = topologies[nodes];
  if (topology === undefined)
    throw new RangeError(`nodes: ${nodes}: must be one of ${Object.keys(topologies).join(', ')}`);
  const title = playLocks.find(({ name, code: known }) => name === lock && known === code)?.title;
  const budget = { worlds: WORLDS, ms: 60_000 };
  return fullOptions({
    name: title ?? 'A lock of your own',
    topology,
    clients,
    client: compile(code),
    seed,
    budget,
  });
}

function planOf({ seed, jitter, steps }: PlayCase, clients: readonly string[]): WorldPlan {
  return { seed, jitter, clients, faults: steps as readonly PlannedFault[] };
}

/** Plays a case. Rejects when its code cannot run, or no client ever enters a resource. */
export async function playCase(play: PlayCase): Promise<PlayedCase> {
  if (play.story !== '') return await playStory(play);
  const options = optionsOf(play);
  const { rules } = await survey(options);
  const world = await playWorld({ ...rules, playOn: true }, planOf(play, options.clients));
  const [breach] = judge(world, options.promises, []);
  const verdict = verdictOf(world, breach);
  const hash = world.hash();
  return {
    timeline: { ...playedTimeline(world, options.name, breach), verdict },
    hash,
    replay: replayText({ ...world, plan: anchored(world, new Set(verdict.holders)) }),
    missed: play.steps.filter((step) => !world.struck.includes(step as PlannedFault)),
  };
}

function verdictOf(
  world: PlayedWorld,
  breach: ReturnType<typeof judge>[number] | undefined,
): TimelineVerdict {
  if (breach === undefined) {
    const many = new Set(world.visits.map(({ client }) => client).filter((name) => name !== PROBE)).size;
    const isTogether = world.visits.some((one) =>
      world.visits.some((other) => other.id > one.id && other.from < one.to && other.client !== one.client),
    );
    const how = isTogether ? 'together only where the lock allows it' : 'one after the other';
    const who =
      many > 1 ? `${many} clients were inside, ${how},` : `${many === 1 ? '1' : 'No'} client was inside,`;
    const why = `${who} and a new client can get the lock afterwards.`;
    return { safe: true, holders: [], why };
  }
  const holders = [...new Set(breach.visits.flatMap((id) => world.visits[id]?.client ?? []))];
  return { safe: false, holders, why: brokenText(breach) };
}

async function playStory({ story, seed }: PlayCase): Promise<PlayedCase> {
  const tell = Object.hasOwn(namedStories, story) ? namedStories[story] : undefined;
  if (tell === undefined)
    throw new RangeError(`story: ${story}: must be one of ${Object.keys(namedStories).join(', ')}`);
  const timeline = (await tell(seed)).timeline as Timeline;
  const hash = createHash('sha256').update(JSON.stringify(timeline)).digest('hex');
  return { timeline, hash, replay: '', missed: [] };
}

/** Searches for faults that break the lock, and returns the case with the shortest story. @param progress told after every world */
export async function findLoss(
  play: PlayCase,
  progress: (worlds: number, of: number) => void,
): Promise<FoundCase> {
  const stop = new AbortController();
  const told: FullOptions['progress'] = ({ worlds, of, findings }) => {
    progress(worlds, of);
    if (findings > 0) stop.abort();
  };
  const options = { ...optionsOf(play), progress: told, signal: stop.signal };
  const report = await new Explorer(options, { lines: [], count: 0 }).explore();
  const finding = report.findings.find(({ replay }) => replay !== '');
  const text = finding === undefined ? undefined : decodePlan(finding.replay);
  if (finding === undefined || text === undefined)
    return { play: undefined, worlds: report.worlds, story: '' };
  const { rules } = await survey(options);
  const plan = await timedPlan(rules, text.plan);
  // Steps have times, which the user may change.
  const steps: readonly PlayStep[] = plan.faults.map(({ after: _, found: __, ...step }) => step);
  const found = { ...play, story: '', seed: plan.seed, jitter: plan.jitter, clients: plan.clients, steps };
  return { play: found, worlds: report.worlds, story: finding.story };
}
