/** The faults as real servers suffer them, where that takes more than what the lab's links do. */
import type { ProcessNode } from '../../lab/processes/node.ts';
import { faultKinds } from '../faults/index.ts';
import type { Scene } from '../faults/scene.ts';
import type { PlannedFault } from '../plan.ts';
import type { RealSet } from './nodes.ts';

/** A play on real servers as faults see it. */
export interface RealScene extends Omit<Scene, 'sets' | 'changing'> {
  readonly sets: readonly RealSet[];
  /** How long after its beginning the fault struck something in the virtual world, in milliseconds. */
  readonly struckAfter: number;
}

type Strike = (scene: RealScene, fault: PlannedFault) => Promise<void>;

/** How long a crashed node stays away, in milliseconds. */
const AWAY = 400;

/** Why a fault cannot be played on real servers; undefined when it can. */
export function reasonAgainst({ kind }: PlannedFault): string | undefined {
  return kind === 'clock-jump' || kind === 'clock-drift'
    ? 'real processes share the clock of the machine'
    : undefined;
}

function setOf({ sets }: RealScene, name: string): RealSet {
  const found = sets.find(({ nodes }) => nodes.some((node) => node.name === name));
  return found ?? (sets[0] as RealSet);
}

function reset(scene: RealScene, set: RealSet, node: string): void {
  for (const { name } of scene.players) set.network.reset(name, node);
}

async function failOver(scene: RealScene, set: RealSet, how: string, after: number): Promise<void> {
  const old = set.primary;
  await set.replace(how, after, scene.wait, (what) => {
    if (what === 'crash') scene.tell(old.name, 'crashes');
    else scene.tell(set.primary.name, `is promoted; ${lostText(set)}`);
  });
  reset(scene, set, old.name);
  if (how === 'demote') return;
  await scene.wait(AWAY);
  await set.restart(old.name);
  scene.tell(old.name, 'is back');
}

function lostText({ lost: { length } }: RealSet): string {
  return length === 1 ? 'an acknowledged write is lost' : `${length} acknowledged writes are lost`;
}

async function failOverBehind(scene: RealScene, { on, ms, by, how }: PlannedFault): Promise<void> {
  const set = setOf(scene, on);
  const { name } = set.primary;
  const lanes = set.replicas.map((replica) => set.network.lane(name, replica.name));
  for (const lane of lanes) lane.hold();
  scene.tell(name, 'its replication stalls');
  await scene.wait(by);
  await failOver(scene, set, how, ms);
  for (const lane of lanes) lane.release();
}

function restart(keep: 'nothing' | 'everything'): Strike {
  return async (scene, { on, ms }) => {
    const set = setOf(scene, on);
    await set.nodes.find(({ name }) => name === on)?.crash({ keep });
    scene.tell(on, 'crashes');
    await scene.wait(ms);
    await set.restart(on);
    scene.tell(on, keep === 'nothing' ? 'is back without its data' : 'is back with its data');
  };
}

async function readOnly(scene: RealScene, { on, ms }: PlannedFault): Promise<void> {
  const set = setOf(scene, on);
  const old = set.primary;
  const next = await set.swap?.();
  if (next === undefined) return;
  scene.tell(old.name, `becomes a replica of ${next.name}; its clients stay connected`);
  await scene.wait(ms);
  reset(scene, set, old.name);
}

async function outOfMemory(scene: RealScene, { on, ms }: PlannedFault): Promise<void> {
  const node = setOf(scene, on).primary;
  await node.ask('CONFIG', 'SET', 'maxmemory', '1');
  scene.tell(node.name, `is out of memory for ${ms} ms`);
  await scene.wait(ms);
  await node.ask('CONFIG', 'SET', 'maxmemory', '0');
}

async function scriptFlush(scene: RealScene): Promise<void> {
  const up = scene.sets.flatMap(({ nodes }) => nodes.filter((node: ProcessNode) => node.up));
  await Promise.all(up.map((node) => node.ask('SCRIPT', 'FLUSH')));
  scene.tell('operator', 'runs SCRIPT FLUSH on every node');
}

/** How long a fault waits for a message that it can strike, in milliseconds. */
const WAITS_FOR_MESSAGE = 60;

/** The message that was lost in the virtual world is lost together with its connection: what waits earlier is left alone. */
function lose(what: 'request' | 'reply'): Strike {
  return async (scene, { on, how }) => {
    const sets = how === '' ? scene.sets : [setOf(scene, how)];
    const struck = sets.map(({ primary, network }) => ({ node: primary.name, network }));
    const lanes = struck.map(({ node, network }) =>
      what === 'request' ? network.lane(on, node) : network.lane(node, on),
    );
    for (const lane of lanes) lane.hold();
    await scene.wait(scene.struckAfter);
    const isEmpty = (): boolean => lanes.every(({ waiting }) => waiting === 0);
    for (let waited = 0; waited < WAITS_FOR_MESSAGE && isEmpty(); waited++) await scene.wait(1);
    if (!isEmpty()) {
      for (const { node, network } of struck) network.reset(on, node);
      const names = struck.map(({ node }) => node).join(', ');
      scene.tell(on, `its connection to ${names} breaks, and a ${what} is lost`);
    }
    for (const lane of lanes) lane.release();
  };
}

const own: Partial<Record<PlannedFault['kind'], Strike>> = {
  failover: (scene, { on, how, ms }) => failOver(scene, setOf(scene, on), how, ms),
  'failover-behind': failOverBehind,
  'restart-empty': restart('nothing'),
  'restart-disk': restart('everything'),
  'lost-request': lose('request'),
  'lost-reply': lose('reply'),
  'read-only': readOnly,
  'out-of-memory': outOfMemory,
  'script-flush': scriptFlush,
};

/** Strikes. Faults of links, pauses and deaths are those of the virtual worlds: links and processes have the same controls. */
export async function strikeReal(scene: RealScene, fault: PlannedFault): Promise<void> {
  const strike = own[fault.kind];
  if (strike !== undefined) return await strike(scene, fault);
  await faultKinds[fault.kind].strike(scene as unknown as Scene, fault);
}
