/** Makes a timeline of what a run has recorded. */
import type {
  Timeline,
  TimelineBack,
  TimelineFile,
  TimelineMessage,
  TimelineTenure,
} from '../../page/format.ts';
import { accountOf, type LockAccount } from '../account/account.ts';
import { keysOf } from '../account/views.ts';
import { type ReadMessage, readMessages } from './connections.ts';
import { marksOf, Obstacles } from './marks.ts';
import type { RecordedRun } from './record.ts';
import { storyOf } from './story.ts';

/** A message that waited longer than this for its receiver, in microseconds, was kept back. */
const LATE = 1;

/** The timeline of one run. */
export function timelineOf(run: RecordedRun): Timeline {
  const read = readMessages(run.messages);
  const account = accountOf(run, read);
  const { holds, overlaps, locks: keys, pools } = account;
  const marks = marksOf(run, read);
  const obstacles = new Obstacles(run.events);
  const { title, clock, replay, end, lanes, verdict } = run;
  return {
    title,
    ...(run.name !== undefined && { name: run.name }),
    clock,
    ...(replay !== undefined && { replay }),
    end,
    lanes,
    ...(run.primaries > 1 && { primaries: run.primaries }),
    messages: read.map((message) => explained(message, obstacles)),
    marks,
    holds,
    keys: keysOf(run, read, keys, pools),
    overlaps,
    tenures: tenuresIn(account),
    ...(account.knownFrom > 0 && { knownFrom: account.knownFrom }),
    story: storyOf({ run, messages: read, marks, account }),
    ...(verdict !== undefined && { verdict }),
  };
}

function tenuresIn({ tenures, ghosts }: LockAccount): TimelineTenure[] {
  const unknown = new Set(ghosts);
  return tenures.map((tenure) => {
    const { lock, client, holder, node, from, what, told, end, renewals, shared } = tenure;
    return {
      ...{ key: lock, client, holder, node, from, what, told, to: end?.at ?? null, renewals },
      ...(end !== undefined && { ended: end.how, end: end.what }),
      ...(end?.by !== undefined && { by: end.by }),
      ...(end?.cause !== undefined && { cause: end.cause }),
      ...(unknown.has(tenure) && { ghost: true }),
      ...(shared && { shared }),
    };
  });
}

/** A file of timelines. @param back the page that they belong to */
export function timelineFile(runs: readonly Timeline[], back?: TimelineBack): TimelineFile {
  return { format: 'lostlock-timeline', version: 1, runs, ...(back !== undefined && { back }) };
}

function explained({ asks: _, answers: __, ...message }: ReadMessage, obstacles: Obstacles): TimelineMessage {
  const { from, to, due, arrived, died, fate, why } = message;
  if (why !== undefined || (arrived !== null && arrived - due < LATE)) return message;
  const obstacle = obstacles.why(from, to, Math.min(due, died ?? due));
  if (fate !== 'lost')
    return obstacle === undefined ? message : { ...message, why: `it waited: ${obstacle}` };
  const gone = 'its connection ended while it was under way';
  return { ...message, why: obstacle === undefined ? gone : `${gone}: ${obstacle}` };
}
