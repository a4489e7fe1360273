/** The timeline of a played world: what the lab recorded, with the visits, the faults and the broken promise. */
import type { RecordedRun } from '../../lab/timeline/record.ts';
import { timelineOf } from '../../lab/timeline/timeline.ts';
import { recordedWorld } from '../../lab/timeline/world.ts';
import type { StoryStep, Timeline, TimelineHold } from '../../page/format.ts';
import type { PlayedWorld } from '../played-world.ts';
import { brokenText, ended } from '../promises/broken.ts';
import type { Breach, Visit } from '../visit.ts';

/**
 * The timeline of a world that was played. Its times count from the start of the clients.
 * Throws for a world that was played on real servers.
 * @param title what was played
 * @param breach the broken promise, to be told as well
 */
export function playedTimeline(world: PlayedWorld, title: string, breach?: Breach): Timeline {
  const { begunAt, visits } = world;
  if (world.world === undefined) throw new Error('real servers record no timeline');
  const record = recordedWorld(world.world, world.sets, { title, from: begunAt });
  // The shards of a cluster share the keys: a lock is on one of them.
  const isCluster = world.sets.some(({ decides }) => decides === 'a cluster');
  const resources = [...new Set(visits.map(({ resource }) => resource))];
  const events = record.events.filter(({ what, detail }) => !isMending(what, detail));
  const lanes = record.lanes.filter(({ name }) => name !== 'operator');
  const run: RecordedRun = {
    ...record,
    ...(isCluster && { primaries: 1 }),
    events,
    lanes: [...lanes, ...resources.map((name) => ({ name, kind: 'resource' as const }))],
    visits: visits.map((visit) => holdOf(visit, world.pools?.has(visit.resource) === true)),
    steps: stepsOf(world, { ...record, events }, breach),
  };
  return timelineOf(run);
}

/** After the last fault, every clock and link is set right, whether or not anything was wrong with it. */
function isMending(what: string, detail: string): boolean {
  return (
    (what === 'clock' && detail === 'runs at 1') || (what === 'delay' && Number.parseFloat(detail) === 0)
  );
}

/** Whole microseconds. */
function micros(ms: number): number {
  return Math.round(ms * 1000);
}

function holdOf({ client, resource, from, to, ended, fence, shared }: Visit, isPool: boolean): TimelineHold {
  return {
    client,
    key: resource,
    kind: 'visit',
    from: micros(from),
    to: Number.isFinite(to) ? micros(to) : null,
    lease: null,
    renewals: [],
    ...(ended !== undefined && { ended: ended === 'left' ? ('released' as const) : ended }),
    ...(fence !== undefined && { fence }),
    ...((shared || isPool) && { shared: true }),
  };
}

/** What the lab does not record by itself: what clients say at resources, what faults do, and what is broken. */
function stepsOf(
  { lines }: PlayedWorld,
  { end, events }: RecordedRun,
  breach: Breach | undefined,
): StoryStep[] {
  const recorded = new Set(events.flatMap(({ at, who }) => who.split('>').map((party) => `${at} ${party}`)));
  // What a fault does is often recorded by the lab as well, at the same moment; but not what a node has forgotten.
  const own = lines.filter(
    ({ kind, at, who, what }) =>
      kind !== 'end' &&
      (kind !== 'fault' || what.includes('without its data') || !recorded.has(`${micros(at)} ${who}`)),
  );
  const told = own.map(
    ({ at, who, what, kind }): StoryStep => ({
      at: micros(at),
      lane: who,
      text: ended(/^its /.test(what) ? what.replace(/^its (\S+)/, `The $1 of ${who}`) : `${who} ${what}`),
      mood: kind === 'fault' ? 'hand' : kind === 'trouble' ? 'bad' : 'plain',
    }),
  );
  if (breach === undefined) return told;
  const broken: StoryStep = {
    at: Math.min(micros(breach.at), end),
    lane: '*',
    text: brokenText(breach),
    mood: 'bad',
  };
  return [...told, broken];
}
