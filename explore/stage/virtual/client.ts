/** A client of a virtual world: an actor with its own process. */
import type { Actor } from '../../../lab/time/actor.ts';
import { ProcessEnded } from '../../../lab/time/process-end.ts';
import { Task } from '../../../lab/time/task.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { type ClientRun, type Entrances, StageClient } from '../../client.ts';
import type { Carry } from '../../session.ts';
import type { ClientIdentity } from '../stage.ts';
import type { DistantResources } from './resources.ts';

/** A client. */
export class VirtualClient extends StageClient {
  readonly actor: Actor;
  protected readonly urls: readonly string[];
  protected readonly carry: Carry;
  readonly #world: World;

  constructor(
    run: ClientRun,
    nodes: Entrances & { readonly urls: readonly string[] },
    world: World,
    resources: DistantResources,
    { name, twin }: ClientIdentity,
  ) {
    super(run, nodes, name, twin?.of.known);
    this.urls = nodes.urls;
    this.#world = world;
    this.actor = world.actor(name);
    if (twin !== undefined) this.actor.resemble((twin.of as VirtualClient).actor, twin.samePid);
    this.actor.onEnd = (end) => this.ended(end);
    this.actor.onBusy = (ms) => {
      // Like a pause: what it believes counts when it goes on.
      this.resumedAt = run.now() + ms;
      run.note(name, `keeps its event loop busy for ${ms} ms`);
    };
    this.carry = (resource, arrive) => resources.write(this.actor, resource, arrive);
  }

  get paused(): boolean {
    return this.actor.paused;
  }

  get ahead(): number {
    return this.actor.ahead / 1000;
  }

  whenReached(act: () => void): void {
    const { schedule } = this.#world;
    const { pid, ahead } = this.actor;
    // A process that was killed meanwhile has not come so far.
    const once = (): void => {
      if (this.alive && this.actor.pid === pid) act();
    };
    schedule.arm(new Task(this.#world.actor('director'), false, once), schedule.micros + ahead);
  }

  protected block(ms: number): void {
    this.actor.keepBusy(Math.round(ms * 1000));
  }

  get alive(): boolean {
    return this.actor.alive;
  }

  /** True when its first clients are connected. */
  get ready(): boolean {
    return this.servers.every(({ status }) => status === 'ready');
  }

  connect(): Promise<void> {
    return this.actor.call(() => this.openAll());
  }

  protected call<T>(code: () => Promise<T>): Promise<T> {
    return this.actor.call(code) as Promise<T>;
  }

  protected override checkAlive(life: number): void {
    if (life !== this.life || !this.alive) throw new ProcessEnded();
  }

  protected sleep(ms: number): Promise<void> {
    if (!this.alive) return new Promise(() => {});
    return this.#world.advance(ms);
  }

  pause(): void {
    this.actor.pause();
  }

  protected continueProcess(): void {
    this.actor.resume();
  }

  protected endProcess(): void {
    this.actor.kill();
  }

  protected beginProcess(): void {
    this.actor.revive();
  }
}
