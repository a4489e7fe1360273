/** What the lab recorded of a played world, with the visits of its clients: from it come its timeline and the account of its locks. */
import { accountOf, type LockAccount } from '../../lab/account/account.ts';
import type { TraceEvent } from '../../lab/time/event.ts';
import { type ReadMessage, readMessages } from '../../lab/timeline/connections.ts';
import type { RecordedEvent, RecordedRun } from '../../lab/timeline/record.ts';
import { recordedWorld, type TimelineWorld } from '../../lab/timeline/world.ts';
import type { TimelineHold } from '../../page/format.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Visit } from '../visit.ts';

/** The account of a played world, and what it was derived from. Times are in microseconds since the clients started. */
export interface WorldAccount {
  readonly run: RecordedRun;
  readonly messages: readonly ReadMessage[];
  readonly account: LockAccount;
}

const accounts = new WeakMap<PlayedWorld, WorldAccount>();

/** The account of a played world. It is derived when it is first asked for. */
export function accountOfWorld(world: PlayedWorld): WorldAccount {
  const known = accounts.get(world);
  if (known !== undefined) return known;
  const record = recordOf(world, '');
  const events = [...record.events, ...deathsIn(world)].sort((a, b) => a.at - b.at);
  const found = accountWith({ ...record, events });
  accounts.set(world, found);
  return found;
}

/** The deaths of clients, as the lab names those of its own programs. */
function deathsIn({ lines }: PlayedWorld): RecordedEvent[] {
  return lines.flatMap(({ at, who, what, kind }) =>
    kind === 'fault' && what === 'dies' ? [{ at: micros(at), who, what: 'kill', detail: '' }] : [],
  );
}

/** The account of a run in which these keys are locks too. */
export function accountWith(run: RecordedRun, keys: readonly string[] = []): WorldAccount {
  const messages = readMessages(run.messages);
  const named = keys.map((key) => key.replace(/[\\*?[\]]/g, '\\$&'));
  const whole = named.length === 0 ? run : { ...run, locks: [...(run.locks ?? []), ...named] };
  return { run: whole, messages, account: accountOf(whole, messages) };
}

/** What was recorded of a played world. Of real servers, less is known: not what their links lost. */
export function recordOf(world: PlayedWorld, title: string): RecordedRun {
  const { begunAt, visits, pools } = world;
  const record = recordedWorld(world.world ?? recordedServers(world), world.sets, { title, from: begunAt });
  // The shards of a cluster share the keys: a lock is on one of them.
  const isCluster = world.sets.some(({ decides }) => decides === 'a cluster');
  const resources = [...new Set(visits.map(({ resource }) => resource))];
  const lanes = record.lanes.filter(({ name }) => name !== 'operator');
  return {
    ...record,
    ...(isCluster && { primaries: 1 }),
    ...((world.world === undefined || world.clock === 'real') && { clock: 'real' as const }),
    events: record.events.filter(({ what, detail }) => !isMending(what, detail)),
    lanes: [...lanes, ...resources.map((name) => ({ name, kind: 'resource' as const }))],
    visits: visits.map((visit) => holdOf(visit, pools?.has(visit.resource) === true)),
  };
}

/** What is known of real servers: the messages that arrived, and what their primaries have written. */
function recordedServers({ plan, events, sets, begunAt, startedAt, endedAt }: PlayedWorld): TimelineWorld {
  const writes = sets.flatMap(({ nodes }) =>
    nodes.flatMap(({ name, log }) =>
      log.writes.map((write) => ({ at: begunAt + micros(write.at - startedAt), node: name, write })),
    ),
  );
  const strays: readonly TraceEvent[] = [];
  return {
    ...{ seed: plan.seed, trace: { events, strays }, network: { underWay: () => [] } },
    ...{ writes: writes.sort((a, b) => a.at - b.at), restarts: [], locks: [], forgottenUpTo: 0 },
    elapsed: () => begunAt + micros(endedAt),
  };
}

/** After the last fault, every clock and link is set right, whether or not anything was wrong with it. */
function isMending(what: string, detail: string): boolean {
  return (
    (what === 'clock' && detail === 'runs at 1') || (what === 'delay' && Number.parseFloat(detail) === 0)
  );
}

/** Whole microseconds. */
export function micros(ms: number): number {
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
