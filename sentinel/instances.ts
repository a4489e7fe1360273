/** What a Sentinel knows about the nodes that it monitors: primaries, their replicas, and the other Sentinels. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { type Address, nameOf, wordsOf } from './address.ts';
import { Link } from './link.ts';

/** The roles that a node reports in INFO. */
export type Role = 'master' | 'slave';

/** A node that a Sentinel monitors. Times are in milliseconds since the epoch. */
export abstract class Instance {
  /** The kind, as events and replies name it. */
  abstract readonly kind: Role | 'sentinel';
  name: Bytes;
  address: Address;
  /** The node's run id; the id of a Sentinel. undefined until it is known. */
  runId: Bytes | undefined;
  link: Link;
  /** True while this Sentinel finds that the node is down (subjectively down). */
  isDown = false;
  downSince: Millis = 0;
  /** How long the node may be silent, in milliseconds. */
  downAfter: number;
  /** When this Sentinel last announced itself there. */
  publishedAt: Millis;
  scriptKillSent = false;

  constructor(name: Bytes, address: Address, downAfter: number, now: Millis) {
    this.name = name;
    this.address = address;
    this.downAfter = downAfter;
    this.publishedAt = now;
    this.link = new Link(now);
  }

  /** The primary that the instance belongs to; itself for a primary. */
  abstract get group(): Primary;

  /** The instance as events describe it. */
  get description(): Bytes {
    const itself = `${this.kind} ${this.name} ${wordsOf(this.address)}`;
    if (this.group === (this as Instance)) return itself;
    return `${itself} @ ${this.group.name} ${wordsOf(this.group.address)}`;
  }
}

/** A primary or replica. */
export abstract class DataInstance extends Instance {
  abstract override readonly kind: Role;
  /** The last INFO. */
  info: Bytes | undefined;
  /** When it arrived; 0: never. */
  infoAt: Millis = 0;
  roleReported: Role;
  roleReportedAt: Millis;
  /** What INFO says about the node's own primary. */
  upstream: { host: Bytes | undefined; port: number; isUp: boolean; changedAt: Millis };
  /** How long the node's link to its primary has been down, in milliseconds. */
  linkDownFor = 0;
  priority = 100;
  offset = 0;
  isAnnounced = true;
  /** Whether the node is in a FAILOVER of its own, as INFO says; undefined if it does not say. */
  isHandingOver: boolean | undefined;
  handingOverChangedAt: Millis = 0;

  constructor(role: Role, name: Bytes, address: Address, downAfter: number, now: Millis) {
    super(name, address, downAfter, now);
    this.roleReported = role;
    this.roleReportedAt = now;
    this.upstream = { host: undefined, port: 0, isUp: false, changedAt: now };
  }
}

/** The steps of a failover, as `failover-state` names them. */
export type FailoverState =
  | 'none'
  | 'wait_start'
  | 'select_slave'
  | 'send_slaveof_noone'
  | 'wait_promotion'
  | 'reconf_slaves'
  | 'update_config';

/** The failover of a primary, as far as this Sentinel takes part in it. */
export class FailoverProgress {
  state: FailoverState = 'none';
  isForced = false;
  /** The primary itself hands over to the replica. */
  isCoordinated = false;
  epoch = 0;
  changedAt: Millis = 0;
  /** When the last attempt began, or when another Sentinel got this one's vote. */
  startedAt: Millis = 0;
  promoted: Replica | undefined;
  /** The attempt whose delay was logged. */
  loggedFor: Millis = 0;

  get isUnderWay(): boolean {
    return this.state !== 'none';
  }
}

/** A monitored primary. */
export class Primary extends DataInstance {
  readonly kind = 'master';
  quorum: number;
  parallelSyncs = 1;
  /** In milliseconds. */
  failoverTimeout: number;
  password: Bytes | undefined;
  user: Bytes | undefined;
  notificationScript: Bytes | undefined;
  reconfigurationScript: Bytes | undefined;
  /** The names that commands have on these nodes, by their usual name in lower case. */
  readonly renamed = new Map<Bytes, Bytes>();
  /** The epoch of the failover that made this node the primary. */
  configEpoch = 0;
  readonly replicas = new Map<Bytes, Replica>();
  /** The other Sentinels, by id. */
  readonly sentinels = new Map<Bytes, OtherSentinel>();
  /** True while enough Sentinels find that the node is down (objectively down). */
  isAgreedDown = false;
  agreedDownSince: Millis = 0;
  /** The Sentinel that this one voted for, and in which epoch. */
  leader: Bytes | undefined;
  leaderEpoch = 0;
  /** How long a restarted primary may take until it answers PING, in milliseconds; 0: restarts do not matter. */
  rebootDownAfter = 0;
  /** When a restart was noticed; undefined after the next PONG. */
  rebootedAt: Millis | undefined;
  failover = new FailoverProgress();

  constructor(
    name: Bytes,
    address: Address,
    settings: { quorum: number; downAfter: number; failoverTimeout: number },
    now: Millis,
  ) {
    super('master', name, address, settings.downAfter, now);
    this.quorum = settings.quorum;
    this.failoverTimeout = settings.failoverTimeout;
  }

  get group(): Primary {
    return this;
  }

  /** The address to announce: that of the promoted replica as soon as the promotion is certain. */
  get announced(): Address {
    const { state, promoted } = this.failover;
    const isCertain = state === 'reconf_slaves' || state === 'update_config';
    return isCertain && promoted !== undefined ? promoted.address : this.address;
  }
}

/** A replica of a monitored primary. */
export class Replica extends DataInstance {
  readonly kind = 'slave';
  readonly group: Primary;
  isPromoted = false;
  /** How far it is on its way to the new primary. */
  reconfiguration: 'none' | 'sent' | 'inprog' | 'done' = 'none';
  sentAt: Millis = 0;

  constructor(group: Primary, address: Address, now: Millis) {
    super('slave', nameOf(address), address, group.downAfter, now);
    this.group = group;
  }
}

/** Another Sentinel that monitors the same primary. */
export class OtherSentinel extends Instance {
  readonly kind = 'sentinel';
  readonly group: Primary;
  declare runId: Bytes;
  helloAt: Millis;
  /** True when it said lately that the primary is down. */
  saysDown = false;
  /** When it last said whether the primary is down. */
  saidAt: Millis;
  /** The Sentinel that it voted for, and in which epoch. */
  leader: Bytes | undefined;
  leaderEpoch = 0;

  constructor(group: Primary, id: Bytes, address: Address, now: Millis) {
    super(id, address, group.downAfter, now);
    this.group = group;
    this.runId = id;
    this.helloAt = now;
    this.saidAt = now;
  }
}
