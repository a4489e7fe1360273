/** The registry of faults: each is one file below this folder, and one line here. Docs, options and searches iterate it. */
import type { Abilities, StageName } from '../stage/controls.ts';
import { again } from './clients/again.ts';
import { arrival } from './clients/arrival.ts';
import { clientDeath } from './clients/client-death.ts';
import { clientPause } from './clients/client-pause.ts';
import { secondDeployment } from './clients/second-deployment.ts';
import { workHang } from './clients/work-hang.ts';
import { clientClockDrift } from './clocks/client-clock-drift.ts';
import { clientClockJump } from './clocks/client-clock-jump.ts';
import { clockDrift } from './clocks/clock-drift.ts';
import { clockJump } from './clocks/clock-jump.ts';
import { serverClockDrift } from './clocks/server-clock-drift.ts';
import { serverClockJump } from './clocks/server-clock-jump.ts';
import { type Fault, type FaultContext, reasonAgainst } from './fault.ts';
import { connectionReset } from './links/connection-reset.ts';
import { delay } from './links/delay.ts';
import { hold } from './links/hold.ts';
import { late } from './links/late.ts';
import { lateMessage } from './links/late-message.ts';
import { lostReply } from './links/lost-reply.ts';
import { lostRequest } from './links/lost-request.ts';
import { oneWayCut } from './links/one-way-cut.ts';
import { partition } from './links/partition.ts';
import { sentinelSplit } from './links/sentinel-split.ts';
import { busy } from './nodes/busy.ts';
import { eviction } from './nodes/eviction.ts';
import { failover } from './nodes/failover.ts';
import { failoverBehind } from './nodes/failover-behind.ts';
import { flushAll } from './nodes/flush-all.ts';
import { misconf } from './nodes/misconf.ts';
import { nodePause } from './nodes/node-pause.ts';
import { outOfMemory } from './nodes/out-of-memory.ts';
import { promote } from './nodes/promote.ts';
import { readOnly } from './nodes/read-only.ts';
import { replicaCrash } from './nodes/replica-crash.ts';
import { replicaLag } from './nodes/replica-lag.ts';
import { replicaPause } from './nodes/replica-pause.ts';
import { restartDisk } from './nodes/restart-disk.ts';
import { restartEmpty } from './nodes/restart-empty.ts';
import { scriptEviction } from './nodes/script-eviction.ts';
import { scriptFlush } from './nodes/script-flush.ts';
import { slotMigration } from './nodes/slot-migration.ts';
import type { Planned } from './planned.ts';

/** The faults that a search draws. */
const allFaults = {
  failover,
  'failover-behind': failoverBehind,
  'restart-empty': restartEmpty,
  'restart-disk': restartDisk,
  'node-pause': nodePause,
  'client-pause': clientPause,
  'client-death': clientDeath,
  partition,
  delay,
  'lost-request': lostRequest,
  'lost-reply': lostReply,
  'connection-reset': connectionReset,
  'server-clock-jump': serverClockJump,
  'client-clock-jump': clientClockJump,
  'server-clock-drift': serverClockDrift,
  'client-clock-drift': clientClockDrift,
  'script-flush': scriptFlush,
  busy,
  'read-only': readOnly,
  'out-of-memory': outOfMemory,
  misconf,
  'sentinel-split': sentinelSplit,
  'slot-migration': slotMigration,
  'replica-pause': replicaPause,
  'replica-crash': replicaCrash,
  'replica-lag': replicaLag,
  'one-way-cut': oneWayCut,
  'flush-all': flushAll,
  eviction,
  'script-eviction': scriptEviction,
  'work-hang': workHang,
  'second-deployment': secondDeployment,
  'clock-jump': clockJump,
  'clock-drift': clockDrift,
};

/** What no search draws as a fault, but a plan can have: the scheduler's choice, and what is done by hand in the playground. */
const byHand = { late, 'late-message': lateMessage, arrival, again, hold, promote };

const known = { ...allFaults, ...byHand };

/** A fault that a network or a process can suffer. docs/explore.md says what each does. */
export type FaultName = keyof typeof allFaults;

/** Every fault that an exploration draws. */
export const FAULTS: readonly FaultName[] = Object.keys(allFaults) as FaultName[];

/** The faults that an exploration draws by default. */
export const DEFAULT_FAULTS: readonly FaultName[] = FAULTS.filter(
  (name) => (allFaults[name] as Pick<Fault, 'onRequest'>).onRequest !== true,
);

/** A fault that a plan can have. */
export type FaultKind = FaultName | keyof typeof byHand;

/** One fault of a world: its `kind` says which forms `how` can have. */
export type PlannedFault = { [K in FaultKind]: Planned<K, HowOf<(typeof known)[K]>> }[FaultKind];

type HowOf<F> = F extends { readonly hows?: readonly (infer How)[] } ? How : never;

/** Every fault by its name. */
export const faults: Readonly<Record<FaultKind, Fault<string> | Fault<string, keyof Abilities>>> =
  known as never;

/** True for a kind of fault that a plan can have. */
export function isFaultKind(kind: string): kind is FaultKind {
  return Object.hasOwn(known, kind);
}

/** Why a fault cannot strike on a stage; undefined when it can. */
export function reasonFor(kind: FaultKind, stage: StageName): string | undefined {
  return reasonAgainst(faults[kind], stage);
}

/** Strikes. Rejects when the stage lacks an ability that the fault needs; `reasonFor` tells that before a world is played. */
export async function strike(context: FaultContext & Partial<Abilities>, fault: PlannedFault): Promise<void> {
  const { needs = [], strike: strikes } = faults[fault.kind];
  const lacking = needs.find((ability) => context[ability] === undefined);
  if (lacking !== undefined) throw new Error(`${fault.kind} needs ${lacking}, which this stage lacks`);
  await strikes(context as FaultContext<keyof Abilities>, fault);
}
