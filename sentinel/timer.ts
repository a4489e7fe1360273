/** What a Sentinel does ten to twenty times a second: it looks after every node, and notices when its clock is unreliable. */
import type { Millis } from '../protocol/bytes.ts';
import type { Timer } from '../server/host/host.ts';
import { askOthers, checkAgreedDown, checkDown } from './down.ts';
import { continueFailover, finishFailover, startIfNeeded } from './failover.ts';
import { type Instance, Primary } from './instances.ts';
import { reconnect, sendPeriodic } from './links.ts';
import type { Sentinel } from './sentinel.ts';

/** The least number of ticks in a second. */
const HERTZ = 10;

/** The heartbeat of a Sentinel. */
export class Heartbeat {
  readonly #sentinel: Sentinel;
  #timer: Timer | undefined;
  #before: Millis;

  constructor(sentinel: Sentinel) {
    this.#sentinel = sentinel;
    this.#before = sentinel.host.clock.now();
  }

  /** Begins to tick. */
  start(): void {
    this.#arm();
  }

  /** Stops for good. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The interval is random, so that Sentinels do not stay in step and ask for votes at the same moment. */
  #arm(): void {
    const { clock, random } = this.#sentinel.host;
    const hertz = HERTZ + Math.floor(random.call(this.#sentinel.host) * HERTZ);
    this.#timer = clock.after(Math.floor(1000 / hertz), () => {
      this.#arm();
      this.#sentinel.enter(() => this.#tick());
    });
  }

  #tick(): void {
    const sentinel = this.#sentinel;
    this.#checkTilt();
    for (const primary of [...sentinel.primaries.values()]) {
      handle(sentinel, primary);
      for (const replica of [...primary.replicas.values()]) handle(sentinel, replica);
      for (const other of [...primary.sentinels.values()]) handle(sentinel, other);
      if (primary.failover.state === 'update_config') finishFailover(sentinel, primary);
    }
  }

  /** Time that stood still, ran back or jumped makes every figure wrong: nothing is decided for a while. */
  #checkTilt(): void {
    const sentinel = this.#sentinel;
    const passed = sentinel.now - this.#before;
    this.#before = sentinel.now;
    if (passed >= 0 && passed <= sentinel.periods['tilt-trigger']) return;
    sentinel.isTilted = true;
    sentinel.tiltedSince = sentinel.now;
    sentinel.tilts++;
    sentinel.event('warning', '+tilt', undefined, '#tilt mode entered');
  }
}

function handle(sentinel: Sentinel, instance: Instance): void {
  reconnect(sentinel, instance);
  sendPeriodic(sentinel, instance);
  if (sentinel.isTilted) {
    if (sentinel.now - sentinel.tiltedSince < sentinel.periods['tilt-period']) return;
    sentinel.isTilted = false;
    sentinel.event('warning', '-tilt', undefined, '#tilt mode exited');
  }
  checkDown(sentinel, instance);
  if (!(instance instanceof Primary)) return;
  checkAgreedDown(sentinel, instance);
  if (startIfNeeded(sentinel, instance)) askOthers(sentinel, instance, true);
  continueFailover(sentinel, instance);
  askOthers(sentinel, instance, false);
}
