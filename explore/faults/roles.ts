/** Faults of roles: failovers, restarts, and a primary that becomes a replica under its clients. */
import { ReplicaSet } from '../../lab/virtual/set.ts';
import { crashNode, decides, type NodeSet } from '../node-set.ts';
import type { PlannedFault } from '../plan.ts';
import type { Cast, FaultKind, FaultVariant, Scene } from './scene.ts';
import { nodeOf, setOf } from './scene.ts';

/** How long a crashed node stays away, in milliseconds. */
const AWAY = 400;
/** How long Sentinels or the nodes of a cluster may take to promote a replica, in milliseconds. */
const DECISION_MAY_TAKE = 30_000;

/** Runs work that changes the roles of a set, unless something else is changing them. */
async function alone(scene: Scene, set: NodeSet, work: () => Promise<void>): Promise<void> {
  if (scene.changing.has(set)) return;
  scene.changing.add(set);
  try {
    return await work();
  } finally {
    scene.changing.delete(set);
  }
}

function primariesWithReplicas({ sets }: Cast): string[] {
  return sets.filter((names) => names.length > 1).map((names) => names[0] as string);
}

/**
 * Replaces the primary. `how` says what happens: it crashes, with its disk kept or `empty`; it hands over (`demote`); or it
 * crashes, and an operator promotes a replica before the nodes of the cluster would (`forced`).
 */
async function failOver(scene: Scene, set: NodeSet, how: string, after: number): Promise<void> {
  const old = set.primary;
  if (!old.up || set.replicas.every((node) => !node.up || node.paused)) return;
  const before = set.failovers.length;
  const lostBefore = set.lost.length;
  const crash = how !== 'demote';
  if (crash) {
    crashNode(old, { keep: how === 'empty' ? 'nothing' : 'everything' });
    scene.tell(old.name, 'crashes');
  }
  const { world } = scene;
  if (decides(set)) {
    if (how === 'forced') await scene.wait(after);
    if (!crash || how === 'forced') await set.failover().catch(() => undefined);
    for (let waited = 0; set.failovers.length === before && waited < DECISION_MAY_TAKE; waited += 50)
      await scene.wait(50);
  } else {
    await scene.wait(after);
    await set.failover().catch((error: Error) => scene.tell(old.name, `is not replaced: ${error.message}`));
  }
  const done = set.primary !== old;
  if (done) scene.tell(set.primary.name, `is promoted${lostText(set, lostBefore)}`);
  for (const { name } of scene.players) world.network.reset(name, old.name);
  if (crash) {
    await scene.wait(AWAY);
    set.restart(old.name);
    scene.tell(old.name, 'is back');
  }
}

/** What the promotion has lost. @param before how many writes had been lost before it */
function lostText(set: NodeSet, before: number): string {
  const lost = set.lost.slice(before);
  const { length } = lost;
  if (length === 0) return '';
  const [one = '', two = ''] = lost.map(({ command }) => shorten(command.join(' ')));
  if (length === 1) return `; an acknowledged write is lost: ${one}`;
  return `; ${length} acknowledged writes are lost: ${one}${length === 2 ? ` and ${two}` : `, ${two} and others`}`;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The primary crashes or hands over, and a replica is promoted. */
export const failover: FaultKind = {
  variants: (cast) =>
    primariesWithReplicas(cast).flatMap((on): FaultVariant[] => [
      { on, ms: 20, how: 'crash' },
      { on, how: 'demote' },
      ...(cast.cluster ? [{ on, ms: 20, how: 'forced' }] : []),
    ]),
  strike: (scene, { on, how, ms }) => {
    const set = setOf(scene, on);
    return alone(scene, set, () => failOver(scene, set, how, ms));
  },
};

/** Replication stands still for `by` milliseconds; then the primary crashes, and `ms` later a replica is promoted. */
export const failoverBehind: FaultKind = {
  variants: (cast, { leaseMs }) =>
    primariesWithReplicas(cast).flatMap((on): FaultVariant[] => {
      const forms = [
        { on, ms: 5, by: 8, how: 'crash' },
        { on, ms: 20, by: Math.min(100, Math.round(leaseMs / 4)), how: 'crash' },
      ];
      return cast.cluster ? [...forms, ...forms.map((form) => ({ ...form, how: 'forced' }))] : forms;
    }),
  strike: (scene, { on, ms, by, how }) => {
    const set = setOf(scene, on);
    return alone(scene, set, async () => {
      if (!set.primary.up) return;
      const { name } = set.primary;
      const lanes = set.replicas.map((replica) => scene.world.network.lane(name, replica.name));
      for (const lane of lanes) lane.hold();
      scene.tell(name, 'its replication stalls');
      await scene.wait(by);
      await failOver(scene, set, how, ms);
      for (const lane of lanes) lane.release();
    });
  },
};

async function restart(
  scene: Scene,
  { on, ms }: PlannedFault,
  keep: 'nothing' | 'everything',
): Promise<void> {
  const set = setOf(scene, on);
  return alone(scene, set, async () => {
    const node = nodeOf(scene, on);
    if (!node?.up) return;
    crashNode(node, { keep });
    scene.tell(on, 'crashes');
    await scene.wait(ms);
    if (!node.up) set.restart(on);
    scene.tell(on, keep === 'nothing' ? 'is back without its data' : 'is back with its data');
  });
}

function everyPrimary({ sets }: Cast): string[] {
  return sets.map(([primary]) => primary as string);
}

/** A primary crashes and comes back without its data, before anybody replaces it. */
export const restartEmpty: FaultKind = {
  variants: (cast) => everyPrimary(cast).map((on) => ({ on, ms: 20 })),
  strike: (scene, fault) => restart(scene, fault, 'nothing'),
};

/** A primary crashes and comes back with its data. */
export const restartDisk: FaultKind = {
  variants: (cast) => everyPrimary(cast).map((on) => ({ on, ms: 20 })),
  strike: (scene, fault) => restart(scene, fault, 'everything'),
};

/** The primary is demoted. Its clients stay connected to it for a while, and their writes are refused. */
export const readOnly: FaultKind = {
  variants: (cast) =>
    cast.sentinels || cast.cluster ? [] : primariesWithReplicas(cast).map((on) => ({ on, ms: 300 })),
  strike: (scene, { on, ms }) => {
    const set = setOf(scene, on);
    return alone(scene, set, async () => {
      const old = set.primary;
      if (!(set instanceof ReplicaSet)) return;
      const next = set.replicas.find((node) => node.up && !node.paused);
      if (!old.up || next === undefined) return;
      set.promote(next.name);
      for (const node of set.replicas) if (node.up) set.redirect(node);
      scene.tell(old.name, `becomes a replica of ${next.name}; its clients stay connected`);
      await scene.wait(ms);
      for (const { name } of scene.players) scene.world.network.reset(name, old.name);
    });
  },
};
