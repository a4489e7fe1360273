/** A node of a cluster, as another node knows it: its address, role, slots, and signs of life. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';
import type { BusLink } from './link.ts';

/** The flags of a member, as the bus transmits them. The member is the node itself. */
export const MYSELF = 16;
export const PRIMARY = 1;
export const REPLICA = 2;
/** This node suspects that the member has failed. */
export const SUSPECTED = 4;
/** A majority of the primaries agrees that it has failed. */
export const FAILED = 8;
/** Its id is not known yet. */
export const HANDSHAKE = 32;
/** Its address is not known. */
export const NO_ADDRESS = 64;
/** It must be sent MEET instead of PING. */
export const TO_MEET = 128;
/** A primary that had replicas, to which replicas may move. */
export const MIGRATE_TO = 256;
/** A replica that never takes over by itself. */
export const NO_FAILOVER = 512;

/** The names of flags in CLUSTER NODES. */
const FLAG_NAMES: readonly [number, string][] = [
  [MYSELF, 'myself'],
  [PRIMARY, 'master'],
  [REPLICA, 'slave'],
  [SUSPECTED, 'fail?'],
  [FAILED, 'fail'],
  [HANDSHAKE, 'handshake'],
  [NO_ADDRESS, 'noaddr'],
  [NO_FAILOVER, 'nofailover'],
];

export class SlotSet {
  readonly bits: Uint8Array = new Uint8Array(SLOT_COUNT / 8);
  size = 0;

  has(slot: number): boolean {
    return ((this.bits[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0;
  }

  /** Returns false if the slot is in the set already. */
  add(slot: number): boolean {
    if (this.has(slot)) return false;
    this.bits[slot >> 3]! |= 1 << (slot & 7);
    this.size++;
    return true;
  }

  /** Returns false if the slot is not in the set. */
  delete(slot: number): boolean {
    if (!this.has(slot)) return false;
    this.bits[slot >> 3]! &= ~(1 << (slot & 7));
    this.size--;
    return true;
  }

  /** The slots, in order. */
  *[Symbol.iterator](): Iterator<number> {
    for (let slot = 0; slot < SLOT_COUNT; slot++) if (this.has(slot)) yield slot;
  }

  /** The slots as ranges of consecutive ones, both ends included. */
  ranges(): [first: number, last: number][] {
    const ranges: [number, number][] = [];
    for (let first = this.#next(0, true); first < SLOT_COUNT; ) {
      const end = this.#next(first, false);
      ranges.push([first, end - 1]);
      first = this.#next(end, true);
    }
    return ranges;
  }

  /** The next slot from this one on that is in the set, or that is not. It steps over eight at once where all are alike. */
  #next(from: number, isWanted: boolean): number {
    const unwanted = isWanted ? 0 : 0xff;
    let slot = from;
    while (slot < SLOT_COUNT && this.has(slot) !== isWanted)
      slot += (slot & 7) === 0 && this.bits[slot >> 3] === unwanted ? 8 : 1;
    return slot;
  }
}

/** The ports of a node for clients, without and with TLS. 0: there is none. */
export interface ClientPorts {
  readonly port: number;
  readonly tlsPort: number;
}

/** A connection to or from a member. */
export type MemberLink = BusLink<Member>;

/** A member of a cluster. */
export class Member {
  id: Bytes;
  flags: number;
  /** The IP address; '' if it is not known. */
  ip: Bytes = '';
  /** The port for clients without TLS, and the one for clients with TLS; 0 if there is none. */
  port = 0;
  tlsPort = 0;
  /** The port of the cluster's bus. */
  busPort = 0;
  hostname: Bytes = '';
  /** The id that a primary and its replicas have in common. */
  shardId: Bytes = '';
  configEpoch = 0;
  readonly slots = new SlotSet();
  readonly replicas: Member[] = [];
  /** The primary of a replica. */
  primary: Member | undefined;
  readonly createdAt: Millis;
  /** When a PING was sent that has no PONG yet; 0 if there is none. */
  pingSentAt: Millis = 0;
  pongAt: Millis = 0;
  /** When anything last arrived from it. */
  heardAt: Millis = 0;
  failedAt: Millis = 0;
  /** When this node last voted for a replica of it. */
  votedAt: Millis = 0;
  /** Since when it has no working replica; 0 if it has one. */
  orphanedAt: Millis = 0;
  offset = 0;
  /** The connection that this node has dialled, and the one that the member has. */
  link: MemberLink | undefined;
  inbound: MemberLink | undefined;
  /** When each primary last said that the member has failed. */
  readonly reports = new Map<Member, Millis>();

  constructor(id: Bytes, flags: number, now: Millis) {
    this.id = id;
    this.flags = flags;
    this.createdAt = now;
  }

  /** Returns whether the member has at least one of the flags. */
  has(flags: number): boolean {
    return (this.flags & flags) !== 0;
  }

  /** Sets and clears flags. */
  mark(set: number, clear = 0): void {
    this.flags = (this.flags & ~clear) | set;
  }

  /** Sets its address and ports. Returns whether one of them is another than before. */
  settle(ip: Bytes, { port, tlsPort }: ClientPorts, busPort: number): boolean {
    const same = this.ip === ip && this.port === port && this.tlsPort === tlsPort && this.busPort === busPort;
    [this.ip, this.port, this.tlsPort, this.busPort] = [ip, port, tlsPort, busPort];
    return !same;
  }

  get isPrimary(): boolean {
    return this.has(PRIMARY);
  }

  get isReplica(): boolean {
    return this.has(REPLICA);
  }

  /** The primary of its shard: itself, or the one that it follows. */
  get head(): Member | undefined {
    return this.isPrimary ? this : this.primary;
  }

  /** Its flags in words, as CLUSTER NODES prints them. */
  get flagNames(): string {
    const names = FLAG_NAMES.filter(([flag]) => this.has(flag)).map(([, name]) => name);
    return names.length === 0 ? 'noflags' : names.join(',');
  }

  /** The replicas that are not known to have failed. */
  get workingReplicas(): number {
    return this.replicas.filter((replica) => !replica.has(FAILED)).length;
  }

  /** Makes it a replica of that primary, in the lists of both. */
  follow(primary: Member): void {
    this.unfollow();
    this.primary = primary;
    this.shardId = primary.shardId;
    if (!primary.replicas.includes(this)) primary.replicas.push(this);
    primary.mark(MIGRATE_TO);
  }

  /** Takes it out of its primary's list of replicas. */
  unfollow(): void {
    const { primary } = this;
    if (primary === undefined) return;
    const at = primary.replicas.indexOf(this);
    if (at >= 0) primary.replicas.splice(at, 1);
    if (primary.replicas.length === 0) primary.mark(0, MIGRATE_TO);
    this.primary = undefined;
  }
}
