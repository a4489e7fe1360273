/** The timeline of a played world: what the lab recorded, with the visits, the faults and the broken promise. */
import type { RecordedRun } from '../../lab/timeline/record.ts';
import { type ResourceSend, withSends } from '../../lab/timeline/resource-sends.ts';
import { timelineOf } from '../../lab/timeline/timeline.ts';
import type { StoryStep, Timeline } from '../../page/format.ts';
import { micros, recordOf } from '../cause/recorded.ts';
import type { PlayedWorld } from '../played-world.ts';
import { brokenText, ended } from '../promises/broken.ts';
import type { Breach } from '../visit.ts';

/**
 * The timeline of a world that was played. Its times count from the start of the clients.
 * Throws for a world that was played on real servers.
 * @param title what was played
 * @param breach the broken promise, to be told as well
 */
export function playedTimeline(world: PlayedWorld, title: string, breach?: Breach): Timeline {
  if (world.world === undefined) throw new Error('real servers record no timeline');
  const record = recordOf(world, title);
  const run: RecordedRun = { ...record, steps: stepsOf(world, record, breach) };
  return withSends(timelineOf(run), sendsOf(world, run.end));
}

/** The writes to resources that have arrived until the end of the record. */
function sendsOf({ visits }: PlayedWorld, end: number): ResourceSend[] {
  return visits
    .flatMap(({ client, resource, writes }) =>
      writes.flatMap(({ at, sent }) =>
        sent === undefined ? [] : [{ client, resource, sent: micros(sent), arrived: micros(at) }],
      ),
    )
    .filter(({ arrived }) => arrived <= end);
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
