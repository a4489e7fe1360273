/** Faults of single processes: pauses, deaths, clocks, flushed scripts, long scripts, and no memory. */
import type { PlannedFault } from '../plan.ts';
import type { Cast, FaultKind, FaultVariant, Scales, Scene } from './scene.ts';
import { nodeOf, operatorOf, playerOf, setOf } from './scene.ts';

/** How long a process takes to start again, in milliseconds. */
const STARTS_IN = 100;
/** How long a script may go on after SCRIPT KILL before it is killed again, in milliseconds. */
const KILL_AGAIN_AFTER = 100;
/** `maxmemory` of a primary that has no memory left. */
const NO_MEMORY = 1;
/** How much a clock's rate may differ from 1: what locks usually allow for is 1 %. */
const DRIFT = 0.008;

function primaries({ sets }: Cast): string[] {
  return sets.map(([primary]) => primary as string);
}

function lengths({ leaseMs }: Scales): number[] {
  return [Math.round(0.4 * leaseMs), Math.round(1.5 * leaseMs)];
}

/** A node stands still for `ms`. */
export const nodePause: FaultKind = {
  variants: (cast, scales) => primaries(cast).flatMap((on) => lengths(scales).map((ms) => ({ on, ms }))),
  strike: async (scene, { on, ms }) => {
    const node = nodeOf(scene, on);
    if (!node?.up || node.paused) return;
    node.pause();
    scene.tell(on, `is paused for ${ms} ms`);
    await scene.wait(ms);
    node.resume();
  },
};

/** A client stands still for `ms`. */
export const clientPause: FaultKind = {
  variants: ({ clients }, scales) => clients.flatMap((on) => lengths(scales).map((ms) => ({ on, ms }))),
  strike: async (scene, { on, ms }) => {
    const player = playerOf(scene, on);
    if (player === undefined || !player.alive || player.paused || player.end !== undefined) return;
    player.pause();
    scene.tell(on, `is paused for ${ms} ms`);
    await scene.wait(ms);
    if (!player.alive || !player.paused) return;
    scene.tell(on, 'resumes');
    player.resume();
  },
};

/** A client dies; with `how` = 'restart', a new process starts. */
export const clientDeath: FaultKind = {
  variants: ({ clients }) => clients.flatMap((on): FaultVariant[] => [{ on }, { on, how: 'restart' }]),
  strike: async (scene, { on, how }) => {
    const player = playerOf(scene, on);
    if (player === undefined || !player.alive || player.end !== undefined) return;
    player.kill();
    scene.tell(on, 'dies');
    if (how !== 'restart') return;
    await scene.wait(STARTS_IN);
    scene.restartClient(player);
    scene.tell(on, 'starts again');
  },
};

function clockOf(scene: Scene, name: string) {
  return (nodeOf(scene, name) ?? playerOf(scene, name)?.actor)?.clock ?? scene.world.actor(name).clock;
}

/** A wall clock is set forward or back by `by`. */
export const clockJump: FaultKind = {
  variants: (cast, { leaseMs }) =>
    [...primaries(cast), ...cast.clients].flatMap((on) =>
      [1.1, -1.1].map((leases) => ({ on, by: Math.round(leases * leaseMs) })),
    ),
  strike: async (scene, { on, by }) => {
    clockOf(scene, on).jump(by);
    scene.tell(on, `its clock is set ${by > 0 ? 'forward' : 'back'} by ${Math.abs(by)} ms`);
  },
};

/** A clock runs too fast or too slow, until the faults are over. */
export const clockDrift: FaultKind = {
  anytime: true,
  variants: (cast) =>
    [...primaries(cast), ...cast.clients].flatMap((on) => [DRIFT, -DRIFT].map((by) => ({ on, by }))),
  strike: async (scene, { on, by }) => {
    clockOf(scene, on).drift(1 + by);
    scene.tell(on, `its clock runs ${Math.abs(by) * 100} % too ${by > 0 ? 'fast' : 'slow'}`);
  },
};

/** SCRIPT FLUSH on every node. */
export const scriptFlush: FaultKind = {
  variants: () => [{}],
  strike: async (scene) => {
    for (const { nodes } of scene.sets) for (const { up, server } of nodes) if (up) server.scripts.flush();
    scene.tell('operator', 'runs SCRIPT FLUSH on every node');
  },
};

/** A primary runs a script for `ms` longer than it tolerates, and answers BUSY; then the script is killed. */
export const busy: FaultKind = {
  variants: (cast, { leaseMs }) =>
    primaries(cast).map((on) => ({ on, ms: Math.min(1000, Math.round(0.5 * leaseMs)) })),
  strike: async (scene, { on, ms }) => {
    const set = setOf(scene, on);
    if (!set.primary.up) return;
    const [runner, killer] = [operatorOf(set), operatorOf(set)];
    await killer.config('SET', 'busy-reply-threshold', '20').catch(() => undefined);
    const { slowScript } = set.primary.server;
    const { pace } = slowScript;
    // Only the slices take virtual time, and how many steps a slice has makes no difference to a loop.
    slowScript.pace = { ...pace, start: 1000, slice: 1000 };
    const done = Promise.resolve(runner.eval('while true do end', 0)).catch(() => undefined);
    scene.tell(on, `is busy with a script for ${ms} ms`);
    await scene.wait(ms);
    // ioredis sends the script again to a node that was restarted in the meantime, perhaps after SCRIPT KILL.
    const over = done.then(() => true);
    do await killer.script('KILL').catch(() => undefined);
    while (!(await Promise.race([over, scene.wait(KILL_AGAIN_AFTER).then(() => false)])));
    slowScript.pace = pace;
    for (const redis of [runner, killer]) redis.disconnect();
  },
};

/** A primary refuses writes for `ms`, because it has no memory left. */
export const outOfMemory: FaultKind = {
  variants: (cast, { leaseMs }) => primaries(cast).map((on) => ({ on, ms: Math.round(0.5 * leaseMs) })),
  strike: async (scene, { on, ms }: PlannedFault) => {
    const node = setOf(scene, on).primary;
    if (!node.up) return;
    const { server } = node;
    const before = server.settings.maxmemory;
    // Another fault of this kind lasts, and ends it.
    if (before === NO_MEMORY) return;
    server.settings.maxmemory = NO_MEMORY;
    server.applySettings();
    scene.tell(node.name, `is out of memory for ${ms} ms`);
    await scene.wait(ms);
    server.settings.maxmemory = before;
    server.applySettings();
  },
};
