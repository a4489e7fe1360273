/** Lets the faults of a plan strike a world, each on its own time, and mends everything in the end. */

import type { Lane } from '../../../lab/virtual/lane.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { World } from '../../../lab/virtual/world.ts';
import type { Client, Names } from './clients.ts';
import type { Judge } from './judge.ts';
import { pass } from './lives.ts';
import { ALL_REPLICAS, type Deed, describeFault, type Fault, type Way, type Who } from './plan.ts';
import type { Mark } from './promises.ts';
import { refuseReleases } from './refusing.ts';
import { type Effect, effectsOf } from './troubles.ts';

/** What faults strike. */
export interface Scene {
  readonly world: World;
  readonly sets: readonly ReplicaSet[];
  readonly clients: readonly Client[];
  readonly names: Names;
  readonly judge: Judge;
  /** Whether grants need replicas. */
  readonly replicated: boolean;
  /** Whether some nodes may be down, or have the wrong role, when all faults are over. */
  readonly isRoughlyMended: boolean;
}

/** How long after a failover the connections that were opened during it are cut, in milliseconds. */
const SENTINEL_MS = 30;

/** What mending is like for the clients. */
const MENDING: Deed = { do: 'failover', crash: 'no', after: 0, backAfter: 0 };

export class Chaos {
  readonly #scene: Scene;
  /** A failover or a restart of a primary is under way. */
  #busy = false;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Lets all faults strike; resolves when the last one is over. */
  async strike(faults: readonly Fault[]): Promise<void> {
    await Promise.all(
      faults.map(async (fault) => {
        await pass(fault.at);
        this.#scene.judge.tell(describeFault(fault));
        const over = this.#trouble(fault.deed);
        await this.#do(fault.deed);
        over();
      }),
    );
  }

  /** Tells the judge which holds a deed may end; returns a function that ends the trouble. */
  #trouble(deed: Deed): () => void {
    const { judge, sets, replicated } = this.#scene;
    const effects = effectsOf(deed, {
      client: (who) => this.#ends(who)[0].name,
      set: (node) => node % sets.length,
      replicated,
    });
    const begun = effects.map(({ trouble }) => judge.troubles.begin({ ...trouble, from: judge.now }));
    return () => {
      // The connections to a lost machine hang until it is back, which may be when all faults are over.
      const hangs = deed.do === 'failover' && deed.crash === 'silent';
      for (const [index, each] of begun.entries()) {
        each.to = hangs ? each.to : judge.now + (effects[index] as Effect).afterMs * 1000;
      }
    };
  }

  /** Ends what faults have left behind, and waits until all replicas are in step. */
  async mend(): Promise<void> {
    const { world, sets, clients, judge } = this.#scene;
    judge.tell('all faults end');
    // Clients notice a role that was forced on a node only after some time.
    const over = this.#scene.isRoughlyMended ? this.#trouble(MENDING) : () => {};
    world.network.heal();
    for (const client of clients) if (client.alive) client.actor.resume();
    for (const set of sets) {
      for (const node of set.nodes) {
        node.resume();
        for (const other of set.nodes)
          if (other !== node) world.network.lane(node.name, other.name).release();
        if (!node.up) this.#restart(set, node);
        else if (node !== set.primary && node.server.role !== 'replica') set.demote(node.name);
      }
    }
    this.#cutStrays();
    for (let waited = 0; !sets.every(({ synchronized }) => synchronized); waited += 10) {
      if (waited > 120_000) return judge.report('liveness', 'the replicas are never in step again');
      await pass(10);
    }
    await pass(SENTINEL_MS);
    this.#cutStrays();
    over();
  }

  async #do(deed: Deed): Promise<void> {
    const { world, sets, judge } = this.#scene;
    switch (deed.do) {
      case 'failover':
        return await this.#failover(deed);
      case 'restart primary':
        return await this.#restartPrimary(this.#setOf(deed.node), deed.ms);
      case 'restart replica':
        return await this.#restartReplica(deed.node, deed.ms, deed.keep);
      case 'hold replication':
        return await this.#hold(this.#replicationLanes(deed.node, deed.way), deed.ms);
      case 'delay replication':
        return await this.#delay(this.#replicationLanes(deed.node, deed.way), deed);
      case 'hold client':
        return await this.#hold(this.#lanes(deed.who, deed.way), deed.ms);
      case 'lose messages': {
        const [client, node] = this.#ends(deed.who);
        await this.#hold(this.#lanes(deed.who, deed.way), deed.ms, () =>
          world.network.reset(client.name, node.name),
        );
        return;
      }
      case 'delay client':
        return await this.#delay(this.#lanes(deed.who, 'both'), deed);
      case 'reset client': {
        const [client, node] = this.#ends(deed.who);
        return world.network.reset(client.name, node.name);
      }
      case 'kill subscribers':
        for (const { primary } of sets) {
          for (const client of [...primary.server.clients.values()]) {
            if (client.subscriptions.count > 0) client.abort();
          }
        }
        return;
      case 'flush scripts':
        for (const { primary } of sets) primary.server.scripts.flush();
        return;
      case 'stall client': {
        const [client] = this.#ends(deed.who);
        client.actor.pause();
        await pass(deed.ms);
        if (client.alive) client.actor.resume();
        return;
      }
      case 'stall node': {
        const { nodes } = this.#setOf(deed.node);
        const node = nodes[deed.node % nodes.length] as LabNode;
        node.pause();
        await pass(deed.ms);
        node.resume();
        return;
      }
      case 'step client clock':
        return this.#ends(deed.who)[0].actor.clock.jump(deed.byMs);
      case 'drift client clock':
        return this.#ends(deed.who)[0].actor.clock.drift(deed.rate);
      case 'step node clocks':
        for (const { nodes } of sets) for (const node of nodes) node.clock.jump(deed.byMs);
        this.#mark(deed.byMs > 0 ? 'clock forward' : 'clock back');
        return;
      case 'lose the locks':
        for (const { primary } of sets) {
          const db = primary.server.db(0);
          for (const key of [...db.entries.keys()]) if (!key.startsWith('lostlock_session:')) db.remove(key);
          if (deed.permits !== undefined) db.put('L', String(deed.permits));
        }
        return;
      case 'slow client':
        return await this.#delay(this.#lanes(deed.who, 'both'), deed);
      case 'refuse releases':
        return await refuseReleases(this.#setOf(deed.node), deed.error, () => pass(deed.ms));
      case 'restart empty':
        await this.#restartPrimary(this.#setOf(deed.node), deed.ms, 'nothing');
        return;
      case 'client dies':
        if (this.#living().length > 1) {
          const [client] = this.#ends(deed.who);
          client.die();
          judge.died(client.actor);
          this.#mark('client died');
        }
    }
  }

  /** @param complete every replica could have been promoted, and the one that was furthest was */
  #mark(kind: Mark['kind'], from = this.#scene.judge.now, complete = false): Mark {
    const mark = { kind, from, to: this.#scene.judge.now, complete };
    this.#scene.judge.promises.marks.push(mark);
    return mark;
  }

  #living(): Client[] {
    return this.#scene.clients.filter(({ alive }) => alive);
  }

  #setOf(node: number): ReplicaSet {
    const { sets } = this.#scene;
    return sets[node % sets.length] as ReplicaSet;
  }

  #ends({ client, node }: Who): [Client, LabNode] {
    const living = this.#living();
    return [living[client % living.length] as Client, this.#setOf(node).primary];
  }

  #lanes(who: Who, way: Way): Lane[] {
    const [client, node] = this.#ends(who);
    return this.#between(client.name, node.name, way);
  }

  #between(one: string, other: string, way: Way): Lane[] {
    const { network } = this.#scene.world;
    const lanes = [network.lane(one, other), network.lane(other, one)];
    return way === 'both' ? lanes : [lanes[way === 'there' ? 0 : 1] as Lane];
  }

  async #hold(lanes: readonly Lane[], ms: number, before: () => void = () => {}): Promise<void> {
    for (const lane of lanes) lane.hold();
    await pass(ms);
    before();
    for (const lane of lanes) lane.release();
  }

  async #delay(lanes: readonly Lane[], { byMs, ms }: { byMs: number; ms: number }): Promise<void> {
    for (const lane of lanes) lane.delay(byMs);
    await pass(ms);
    for (const lane of lanes) lane.delay(0);
    await pass(byMs); // The last delayed messages take this long to arrive, and the messages behind them wait.
  }

  /** The ways to one replica, or to all of them. */
  #replicationLanes(node: number, way: Way): Lane[] {
    const { primary, replicas } = this.#setOf(0);
    const chosen = node === ALL_REPLICAS ? replicas : replicas.slice(node % replicas.length).slice(0, 1);
    return chosen.flatMap(({ name }) => this.#between(primary.name, name, way));
  }

  async #restartPrimary(
    set: ReplicaSet,
    ms: number,
    keep: 'everything' | 'nothing' = 'everything',
  ): Promise<void> {
    const node = set.primary;
    if (this.#busy || !node.up) return;
    this.#busy = set.nodes.length > 1;
    const lost = keep === 'nothing' ? this.#mark('came back empty') : undefined;
    if (lost) lost.to = Number.POSITIVE_INFINITY;
    node.crash({ keep });
    await pass(ms);
    this.#restart(set, node);
    if (lost) lost.to = this.#scene.judge.now;
    this.#busy = false;
  }

  async #restartReplica(index: number, ms: number, keep: boolean): Promise<void> {
    const set = this.#setOf(0);
    const node = set.replicas[index % set.replicas.length];
    if (this.#busy || !node?.up || node.server.role !== 'replica') return;
    node.crash({ keep: keep ? 'everything' : 'nothing' });
    await pass(ms);
    this.#restart(set, node);
  }

  /** Starts a node that is down; hung connections get a reset. */
  #restart(set: ReplicaSet, node: LabNode): void {
    const { clients, names, world } = this.#scene;
    if (node.up) return;
    set.restart(node.name);
    for (const { name } of clients) world.network.link(name, node.name).heal();
    names.follow();
  }

  /** As Sentinel does: promotes the replica with the highest offset, of those that have had the primary's data. */
  async #failover(deed: Extract<Deed, { do: 'failover' }>): Promise<void> {
    const { judge, names, clients, world } = this.#scene;
    const set = this.#setOf(0);
    const old = set.primary;
    const { id } = old.server.replication;
    const { replicas } = set;
    const follows = ({ up, server }: LabNode): boolean =>
      up && server.role === 'replica' && server.replication.id === id;
    const able = replicas.filter((node) => follows(node) && node.server.primary?.linkUp === true);
    if (this.#busy || !old.up || able.length === 0) return judge.tell('… which cannot be done now');
    this.#busy = true;
    const from = judge.now;
    const split = deed.crash === 'no' && deed.backAfter > 0;
    // A lost machine sends nothing: its clients notice when it is back.
    if (deed.crash === 'silent')
      for (const { name } of clients) world.network.link(name, old.name).partition();
    if (deed.crash !== 'no') old.crash({ keep: deed.crash === 'nothing' ? 'nothing' : 'everything' });
    await pass(deed.after);
    const [best] = able.filter(follows).sort((a, b) => b.offset - a.offset);
    this.#busy = false;
    if (best === undefined) {
      this.#restart(set, old);
      return judge.tell('… which nobody could take over');
    }
    const complete = replicas.every((node) => able.includes(node) && follows(node));
    const failover = await set.failover({ to: best.name, demote: !split });
    const { lost, unanswered, returned, offset, oldOffset } = failover;
    names.follow();
    judge.tell(
      `${best.name} is promoted at offset ${offset} of ${oldOffset}: ` +
        `${lost.length} writes lost, ${unanswered.length} unanswered, ${returned.length} returned`,
    );
    if (lost.length + unanswered.length + returned.length > 0) this.#mark('lossy failover', from, complete);
    if (!split) {
      await pass(SENTINEL_MS);
      this.#cutStrays();
    }
    if (deed.backAfter === 0) return;
    const both = split ? this.#mark('two primaries', from, complete) : undefined;
    if (both) both.to = Number.POSITIVE_INFINITY;
    await pass(Math.max(1, deed.backAfter - (split ? 0 : SENTINEL_MS)));
    if (!old.up) this.#restart(set, old);
    if (!both) return;
    if (old !== set.primary && old.server.role !== 'replica') set.demote(old.name);
    both.to = judge.now;
    judge.tell(`${old.name} follows`);
  }

  /** Disconnects every client of a node that is not a primary. */
  #cutStrays(): void {
    const { sets, clients, world } = this.#scene;
    for (const set of sets) {
      for (const node of set.replicas) {
        for (const { name } of clients) world.network.reset(name, node.name);
      }
    }
  }
}
