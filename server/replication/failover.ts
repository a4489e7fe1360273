/**
 * FAILOVER: a primary hands its role to a replica that has the whole stream
 * (https://redis.io/docs/latest/commands/failover/).
 */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import type { Timer } from '../host/host.ts';
import type { HasHost, Units } from '../ports.ts';
import type { Follower } from './follower.ts';
import { promote, type RoleNode, replicateFrom } from './role.ts';

/** The arguments of FAILOVER. */
export interface FailoverRequest {
  readonly target?: { readonly host: Bytes; readonly port: number };
  /** How long to wait for the replica, in milliseconds; 0: no limit. */
  readonly timeout: Millis;
  /** Hand over on timeout even if the replica lacks part of the stream. */
  readonly force: boolean;
}

/** The node, as FAILOVER sees it. */
export interface FailoverNode extends HasHost, RoleNode, Units {
  readonly role: 'primary' | 'replica';
  readonly pausing: { holdWrites(on: boolean): void };
  readonly replication: Omit<RoleNode['replication'], 'online'> & {
    find(host: Bytes, port: number): Follower | undefined;
    addressOf(follower: Follower): Bytes;
    online(): Follower[];
  };
}

/** Runs the failovers of a primary, one at a time. */
export class Coordinator {
  /** The state, as INFO names it. */
  state: 'no-failover' | 'waiting-for-sync' | 'failover-in-progress' = 'no-failover';
  readonly #server: FailoverNode;
  #request: FailoverRequest | undefined;
  #timer: Timer | undefined;

  constructor(server: FailoverNode) {
    this.#server = server;
  }

  /** True while writes are held back with a timeout: the stream must not grow then, not even by a PING. */
  get holdsStream(): boolean {
    return this.#request !== undefined && this.#request.timeout > 0;
  }

  /** Holds writes back until a replica has the whole stream, then hands over. Throws ReplyError if it cannot start. */
  begin(request: FailoverRequest): void {
    const server = this.#server;
    const { target, timeout, force } = request;
    if (this.state !== 'no-failover') fail('ERR FAILOVER already in progress.');
    if (server.role === 'replica') fail('ERR FAILOVER is not valid when server is a replica.');
    if (server.replication.online().length === 0) fail('ERR FAILOVER requires connected replicas.');
    if (force && (timeout === 0 || target === undefined)) {
      fail('ERR FAILOVER with force option requires both a timeout and target HOST and IP.');
    }
    if (target !== undefined && server.replication.find(target.host, target.port) === undefined) {
      fail('ERR FAILOVER target HOST and PORT is not a replica.');
    }
    const { clock } = server.host;
    this.#request = request;
    this.state = 'waiting-for-sync';
    server.pausing.holdWrites(true);
    if (timeout > 0) this.#timer = clock.at(clock.now() + timeout, () => this.#timedOut());
    // Not within the command: its reply must be sent before the handover resets connections.
    clock.soon(() => this.review());
  }

  /** Hands over if a replica has the whole stream. Called for every acknowledgement. */
  review(): void {
    const server = this.#server;
    if (this.state !== 'waiting-for-sync') return;
    const { replication } = server;
    const target = this.#request?.target;
    const candidates =
      target === undefined ? replication.online() : [replication.find(target.host, target.port)];
    const heir = candidates.find((each) => each?.acknowledged === replication.offset);
    if (heir === undefined) return;
    this.#handOver(target?.host ?? replication.addressOf(heir), target?.port ?? heir.port);
  }

  #handOver(host: Bytes, port: number): void {
    const server = this.#server;
    this.state = 'failover-in-progress';
    this.#timer?.cancel();
    server.unit(() => replicateFrom(server, host, port));
    server.settle();
  }

  #timedOut(): void {
    if (this.state !== 'waiting-for-sync') return;
    const { target, force } = this.#request as FailoverRequest;
    if (force && target !== undefined) this.#handOver(target.host, target.port);
    else this.#end();
    this.#server.settle();
  }

  /** Ends the failover with the new primary's answer to PSYNC FAILOVER: it has accepted the role, or refused it. */
  answered(accepted: boolean): void {
    if (this.state !== 'failover-in-progress') return;
    if (accepted) this.#end();
    else this.abort();
  }

  /** Cancels the failover: the node remains, or becomes again, a primary that accepts writes. */
  abort(): void {
    if (this.state === 'failover-in-progress') promote(this.#server);
    this.#end();
  }

  #end(): void {
    this.#timer?.cancel();
    this.#request = undefined;
    this.state = 'no-failover';
    this.#server.pausing.holdWrites(false);
  }

  /** Cancels the timer. */
  stop(): void {
    this.#timer?.cancel();
  }
}
