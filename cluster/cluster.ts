/** A node's view of its cluster: the members, who serves which slot, the epochs, and whether the cluster works. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';
import type { Host } from '../server/host/host.ts';
import { silence } from '../server/host/silence.ts';
import type { Server } from '../server/server.ts';
import {
  FAILED,
  HANDSHAKE,
  Member,
  type MemberLink,
  MIGRATE_TO,
  MYSELF,
  PRIMARY,
  REPLICA,
  SUSPECTED,
} from './member.ts';
import { announcedBusPort, announcedPorts } from './ports.ts';
import { Traffic } from './traffic.ts';

/** The attempt of a replica to take over from its primary. */
export interface Takeover {
  /** When to ask for votes, in milliseconds since the epoch; 0 before the first attempt. */
  at: Millis;
  epoch: number;
  votes: number;
  asked: boolean;
  /** How many replicas of the same primary have more of its stream. */
  rank: number;
}

/** A hand-over that CLUSTER FAILOVER asked for, at the primary and at the replica. */
export interface Handover {
  /** When it is given up; 0 while there is none. */
  until: Millis;
  /** At the primary: the replica that takes over. */
  replica: Member | undefined;
  /** At the replica: the offset that the paused primary has reached. */
  offset: number | undefined;
  /** At the replica: it has all that the primary has. */
  isReady: boolean;
}

/** Something that happened to the cluster, as this node sees it. */
export interface ClusterEvent {
  readonly type: 'state' | 'suspected' | 'failed' | 'recovered' | 'promoted' | 'vote' | 'election' | 'slots';
  readonly text: string;
}

/** A node's view of its cluster (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
export class Cluster {
  readonly server: Server;
  readonly members = new Map<Bytes, Member>();
  myself: Member;
  readonly owners: (Member | undefined)[] = new Array(SLOT_COUNT).fill(undefined);
  /** Slots that are being moved away, and to which member. */
  readonly migrating = new Map<number, Member>();
  /** Steps at which moves stop: set by DEBUG SLOTMIGRATION. */
  readonly heldMoves = { pause: false, failover: false };
  /** Slots that are being moved here, and from which member. */
  readonly importing = new Map<number, Member>();
  currentEpoch = 0;
  lastVoteEpoch = 0;
  isOk = false;
  /** How many primaries serve slots. */
  size: number;
  takeover: Takeover = { at: 0, epoch: 0, votes: 0, asked: false, rank: 0 };
  handover: Handover = { until: 0, replica: undefined, offset: undefined, isReady: false };
  /** Nodes that were forgotten, and until when they may not come back. */
  readonly forgotten = new Map<Bytes, Millis>();
  readonly links = new Set<MemberLink>();
  readonly sent = new Traffic();
  readonly received = new Traffic();
  /** What must be done when the current event ends. */
  readonly due = { state: false, store: false, takeover: false, handover: false };
  readonly startedAt: Millis;
  /** When this node last saw only a minority of the primaries. */
  minorityAt: Millis = 0;
  /** Stores the configuration. It is replaced where there is a disk for it. Returns why it failed, if it did. */
  store: () => string | undefined = () => undefined;
  /** Observes what happens. */
  onEvent: (event: ClusterEvent) => void = () => {};
  /** Called when a majority agrees that a member has failed. Announces it to all members. */
  onFailed: (member: Member) => void = () => {};
  /** Called when a member has another address. */
  onMoved: (member: Member) => void = () => {};
  /** Called ten times a second. */
  onBeat: () => void = () => {};
  /** True if all nodes were given the same view at the start: nobody can have been replaced. */
  isArranged = false;
  /** Called when a slot no longer belongs to this node. */
  onSlotLost: (slot: number) => void = () => {};

  /** The address that this node announced last. */
  #announcedIp = '';

  constructor(server: Server, id: Bytes) {
    this.server = server;
    this.size = server.dialect.cluster.sizeAtFirst;
    this.myself = new Member(id, MYSELF | PRIMARY, server.now);
    this.myself.shardId = server.randomHex(40);
    this.members.set(id, this.myself);
    this.startedAt = server.now;
    this.followSettings();
  }

  get host(): Host {
    return this.server.host;
  }

  /**
   * The host's clock. The node's own time stands still while a script of it is paused between two slices, and messages of the bus
   * arrive all the same.
   */
  get now(): Millis {
    return this.server.host.clock.now();
  }

  get timeout(): Millis {
    return this.server.settings['cluster-node-timeout'];
  }

  /** How long there has been silence since this time, in milliseconds. The stalls of this node itself do not count. */
  silence(since: Millis): Millis {
    return silence(this.host, this.now, since, this.timeout);
  }

  /** A random integer from 0 to below `bound`. */
  random(bound: number): number {
    return Math.floor(this.host.random() * bound);
  }

  /** Takes address and name of this node from its settings. */
  followSettings(): void {
    const { settings } = this.server;
    const { myself } = this;
    Object.assign(myself, announcedPorts(this.server));
    myself.busPort = announcedBusPort(settings);
    const announced = settings['cluster-announce-ip'];
    // A node whose address is no longer announced learns it anew from the next MEET.
    if (announced !== this.#announcedIp) myself.ip = announced;
    this.#announcedIp = announced;
    myself.hostname = settings['cluster-announce-hostname'];
  }

  /** Logs and reports what happened. */
  note(type: ClusterEvent['type'], text: string): void {
    this.server.log('notice', text);
    this.onEvent({ type, text });
  }

  add(id: Bytes, flags: number): Member {
    const member = new Member(id, flags, this.now);
    member.shardId = this.server.randomHex(40);
    this.members.set(id, member);
    return member;
  }

  /** Records the id that a member reported. */
  rename(member: Member, id: Bytes): void {
    this.members.delete(member.id);
    member.id = id;
    this.members.set(id, member);
  }

  /** Forgets a member, with its slots and links. */
  remove(member: Member): void {
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      if (this.importing.get(slot) === member) this.importing.delete(slot);
      if (this.migrating.get(slot) === member) this.migrating.delete(slot);
      if (this.owners[slot] === member) this.release(slot);
    }
    for (const other of this.members.values()) other.reports.delete(member);
    for (const replica of [...member.replicas]) replica.unfollow();
    member.unfollow();
    this.unlink(member.link);
    this.unlink(member.inbound);
    this.members.delete(member.id);
  }

  /** Closes a link and forgets it. */
  unlink(link: MemberLink | undefined): void {
    if (link === undefined) return;
    link.close();
    this.links.delete(link);
    if (link.dialled?.link === link) link.dialled.link = undefined;
    if (link.caller?.inbound === link) link.caller.inbound = undefined;
  }

  // Slots

  /** Gives a slot that nobody serves to a member. Returns false if somebody serves it. */
  assign(slot: number, member: Member): boolean {
    if (this.owners[slot] !== undefined) return false;
    if (member.slots.add(slot) && member.slots.size === 1 && this.countPrimariesWithReplicas() > 0) {
      member.mark(MIGRATE_TO);
    }
    this.owners[slot] = member;
    this.server.observer.usage?.reset(slot);
    return true;
  }

  /** True if another primary than this has replicas: replicas may then move to a primary that has none. */
  countPrimariesWithReplicas(): number {
    let count = 0;
    for (const member of this.members.values()) {
      if (member.isPrimary && member.replicas.length > 0) count++;
    }
    return count;
  }

  /** Nobody serves the slot any more. Returns false if nobody did. */
  release(slot: number): boolean {
    const owner = this.owners[slot];
    if (owner === undefined) return false;
    if (owner === this.myself.head) this.onSlotLost(slot);
    owner.slots.delete(slot);
    this.owners[slot] = undefined;
    this.server.observer.usage?.reset(slot);
    return true;
  }

  /** Takes all slots from a member. Returns how many it had. */
  releaseAll(member: Member): number {
    let count = 0;
    for (const slot of [...member.slots]) if (this.release(slot)) count++;
    return count;
  }

  /** How many keys a slot has on this node, in all databases. */
  countKeys(slot: number): number {
    let count = 0;
    for (const db of this.server.opened) count += db.entries.countsOfSlots()[slot]!;
    return count;
  }

  /** Returns whether this node has keys of the slot. */
  hasKeys(slot: number): boolean {
    for (const db of this.server.opened) if (db.entries.countsOfSlots()[slot] !== 0) return true;
    return false;
  }

  /** Returns whether this node has keys at all. */
  get hasAnyKeys(): boolean {
    return this.server.databases.some(({ size }) => size > 0);
  }

  // Roles

  /** A member is a primary from now on. */
  makePrimary(member: Member): void {
    if (member.isPrimary) return;
    member.unfollow();
    if (member !== this.myself) member.mark(MIGRATE_TO);
    member.mark(PRIMARY, REPLICA);
    this.due.state = true;
    this.due.store = true;
  }

  /** The member is not known to have failed, and is not this node: it can be sent messages. */
  isPeer(member: Member): boolean {
    return !member.has(MYSELF | HANDSHAKE);
  }

  /** The members that may be reached, in the order in which they became known. */
  get peers(): Member[] {
    return [...this.members.values()].filter((member) => this.isPeer(member));
  }

  /** Notes that the hand-over is over, and lets the clients of a paused primary continue. */
  endHandover(): void {
    if (this.handover.replica !== undefined) this.server.pausing.unpause();
    this.handover = { until: 0, replica: undefined, offset: undefined, isReady: false };
  }

  /** How many primaries are a majority. */
  get majority(): number {
    return Math.floor(this.size / 2) + 1;
  }

  /** True if nobody suspects the member. */
  isHealthy(member: Member): boolean {
    return !member.has(SUSPECTED | FAILED);
  }
}
