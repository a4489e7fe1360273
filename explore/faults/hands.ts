/** What a person does by hand in the playground, and no search does by itself: holding a link, and promoting a replica. */
import { ReplicaSet } from '../../lab/virtual/set.ts';
import type { FaultKind } from './scene.ts';
import { nodeOf, setOf } from './scene.ts';

/** The stream from the primary to the replica `on` waits at its gate for `ms`. */
export const hold: FaultKind = {
  variants: () => [],
  strike: async (scene, { on, ms }) => {
    const { primary } = setOf(scene, on);
    if (nodeOf(scene, on) === undefined || primary.name === on) return;
    const lane = scene.world.network.lane(primary.name, on);
    lane.hold();
    scene.tell(on, `receives nothing from ${primary.name}: the link is held`);
    await scene.wait(ms);
    lane.release();
    scene.tell(on, 'receives what was held');
  },
};

/** The replica `on` is promoted, as Sentinels would do it, whether or not the primary has failed. */
export const promote: FaultKind = {
  variants: () => [],
  strike: async (scene, { on }) => {
    const set = setOf(scene, on);
    const old = set.primary;
    if (nodeOf(scene, on)?.up !== true || old.name === on) return;
    scene.tell(on, 'is promoted by hand');
    await (set instanceof ReplicaSet ? set.failover({ to: on }) : set.failover());
    for (const { name } of scene.players) scene.world.network.reset(name, old.name);
  },
};
