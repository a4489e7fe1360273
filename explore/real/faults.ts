/** The faults as real servers suffer them, where that takes more than what the lab's links do. */
import type { ProcessNode } from '../../lab/processes/node.ts';
import type { ProcessPair } from '../../lab/processes/set.ts';
import { faultKinds } from '../faults/index.ts';
import type { Scene } from '../faults/scene.ts';
import type { PlannedFault } from '../plan.ts';

/** A play on real servers as faults see it. */
export interface RealScene extends Omit<Scene, 'sets' | 'changing'> {
  readonly sets: readonly ProcessPair[];
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

function setOf({ sets }: RealScene, name: string): ProcessPair {
  const found = sets.find(({ nodes }) => nodes.some((node) => node.name === name));
  return found ?? (sets[0] as ProcessPair);
}

function reset(scene: RealScene, set: ProcessPair, node: string): void {
  for (const { name } of scene.players) set.network.reset(name, node);
}

async function failOver(scene: RealScene, set: ProcessPair, how: string, after: number): Promise<void> {
  const old = set.primary;
  const crash = how !== 'demote';
  if (crash) scene.tell(old.name, 'crashes');
  await set.failover(crash ? { crash: { keep: how === 'empty' ? 'nothing' : 'everything' }, after } : {});
  const { length: lost } = set.lost;
  scene.tell(
    set.primary.name,
    `is promoted; ${lost === 1 ? 'an acknowledged write is' : `${lost} acknowledged writes are`} lost`,
  );
  reset(scene, set, old.name);
  if (!crash) return;
  await scene.wait(AWAY);
  await set.restart(old.name);
  scene.tell(old.name, 'is back');
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
    await set.node(on).crash({ keep });
    scene.tell(on, 'crashes');
    await scene.wait(ms);
    await set.restart(on);
    scene.tell(on, keep === 'nothing' ? 'is back without its data' : 'is back with its data');
  };
}

async function readOnly(scene: RealScene, { on, ms }: PlannedFault): Promise<void> {
  const set = setOf(scene, on);
  const [old, next] = [set.primary, set.replica];
  await set.promote(next.name);
  await set.demote(old.name);
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

const own: Partial<Record<PlannedFault['kind'], Strike>> = {
  failover: (scene, { on, how, ms }) => failOver(scene, setOf(scene, on), how, ms),
  'failover-behind': failOverBehind,
  'restart-empty': restart('nothing'),
  'restart-disk': restart('everything'),
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
