/**
 * Notices worlds that stand still while their clients wait: somebody outside awaits a client of a world, and nobody moves its
 * time. Such a test waits until its time is up, and does not say why.
 */
import timers from 'node:timers';

/** A world whose time can stand still. */
export interface Standable {
  /** What its clients wait for; empty if they wait for nothing. */
  describeWaiting(): string;
}

// Node's own, whatever a test replaces later.
const { setInterval, clearInterval } = timers;

/** How often worlds are looked at, in milliseconds of real time. */
const EACH = 250;
/** At how many looks in a row nothing must have happened: a second is less than any test runner's limit. */
const LOOKS = 4;
/** The part of the time for which a process runs JavaScript when it has more to do than to wait. */
const BUSY = 0.5;

/** The worlds that stand still. */
const standing = new Set<Standable>();
/**
 * How often in a row the process had nothing to do but to wait. One that works on is not kept up by a world: its tests go on,
 * and have perhaps left this one behind.
 */
let idleLooks = 0;
let usage: ReturnType<typeof measure>;
/** The worlds of which it was told. */
const told = new WeakSet<Standable>();
let looking: ReturnType<typeof setInterval> | undefined;
let isEndWatched = false;

/** The world's time stands still from now on. */
export function stands(world: Standable): void {
  if (told.has(world)) return;
  standing.add(world);
  idleLooks = 0;
  if (!isEndWatched) process.on('exit', tellAtEnd);
  isEndWatched = true;
  if (looking !== undefined) return;
  looking = setInterval(look, EACH);
  // It must not keep a process alive. In jsdom and in a browser, it is a number.
  (looking as { unref?(): unknown }).unref?.();
}

/** The world's time moves again. */
export function moves(world: Standable): void {
  standing.delete(world);
  idleLooks = 0;
}

/** The world is closed. Nothing is left running after the last one: Deno's sanitizers report what a test leaves. */
export function leaves(world: Standable): void {
  moves(world);
  if (standing.size === 0) stopLooking();
}

function look(): void {
  const before = usage;
  usage = measure();
  idleLooks = isIdle(before, usage) ? idleLooks + 1 : 0;
  if (idleLooks >= LOOKS) for (const world of [...standing]) tell(world);
  if (standing.size === 0) stopLooking();
}

function stopLooking(): void {
  clearInterval(looking);
  looking = undefined;
}

function measure() {
  // Not every runtime has it.
  return (globalThis.performance as Partial<typeof globalThis.performance>).eventLoopUtilization?.();
}

/** True when the process did little but wait between the two measurements. */
function isIdle(before: typeof usage, now: typeof usage): boolean {
  if (before === undefined || now === undefined) return now === undefined;
  return globalThis.performance.eventLoopUtilization(now, before).utilization < BUSY;
}

/** Called when a process ends with a failure. Perhaps its code awaited a client of a world whose time did not move. */
function tellAtEnd(status: number): void {
  // Node notices only after this event has begun that the main module awaits what never comes.
  const failed = status !== 0 || (process.exitCode ?? 0) !== 0;
  if (failed) for (const world of [...standing]) tell(world);
}

function tell(world: Standable): void {
  standing.delete(world);
  const waiting = world.describeWaiting();
  if (waiting === '') return;
  told.add(world);
  console.warn(
    `lostlock: nobody moves the time of this world, and in it ${waiting}. What the test awaits may depend on that. ` +
      'Code that was started in run() or actor.run() goes on only while the test awaits advance, run, until or a command of ' +
      'pair.client(): await pair.until(promise), or call it inside, as in await actor.run(() => queue.add(job))',
  );
}
