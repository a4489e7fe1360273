/** One move of slots between two primaries, as a node that takes part in it sees it: Valkey's CLUSTER MIGRATESLOTS. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { MapReply, type Reply } from '../../protocol/reply.ts';

/** Slots, both ends included. */
export type SlotRange = readonly [first: number, last: number];

/** The length of the names of nodes and moves. */
export const NAME_LENGTH = 40;

/** How a move stands, in the words of CLUSTER GETSLOTMIGRATIONS. */
export type MoveState =
  | 'waiting-for-ack'
  | 'receiving-snapshot'
  | 'waiting-for-paused'
  | 'failover-requested'
  | 'occurring-on-primary'
  | 'asking-source'
  | 'waiting-to-ask'
  | 'connecting'
  | 'reading-auth-response'
  | 'reading-establish-response'
  | 'snapshotting'
  | 'replicating'
  | 'waiting-to-pause'
  | 'failover-paused'
  | 'failover-granted'
  | 'success'
  | 'cancelled'
  | 'failed';

const FINISHED: ReadonlySet<MoveState> = new Set(['success', 'cancelled', 'failed']);

/** Between which nodes slots move. */
export interface Ends {
  readonly source: Bytes;
  readonly target: Bytes;
}

/** What both sides of a move have. */
export abstract class Move {
  abstract readonly operation: 'EXPORT' | 'IMPORT';
  readonly name: Bytes;
  readonly ranges: readonly SlotRange[];
  /** The ids of the nodes; undefined where a replica only hears that its primary imports. */
  ends: Ends | undefined;
  readonly createdAt: Millis;
  /** When the source of the slots was last asked for them. */
  startedAt: Millis;
  updatedAt: Millis;
  /** When the other side was last heard. */
  heardAt: Millis;
  message: Bytes = '';
  /** How often the source of the slots was asked for them again. */
  retries = 0;
  /** How long writes waited for the move, in milliseconds. */
  paused: Millis = 0;
  #state: MoveState;

  constructor(
    name: Bytes,
    ranges: readonly SlotRange[],
    ends: Ends | undefined,
    state: MoveState,
    now: Millis,
  ) {
    this.name = name;
    this.ranges = ranges;
    this.ends = ends;
    this.#state = state;
    this.createdAt = now;
    this.startedAt = now;
    this.updatedAt = now;
    this.heardAt = now;
  }

  get state(): MoveState {
    return this.#state;
  }

  get isFinished(): boolean {
    return FINISHED.has(this.#state);
  }

  /** How many bytes of changes have not been sent yet. */
  get pending(): number {
    return 0;
  }

  /** The state changes. */
  become(state: MoveState, now: Millis): void {
    this.#state = state;
    this.updatedAt = now;
  }

  has(slot: number): boolean {
    return this.ranges.some(([first, last]) => first <= slot && slot <= last);
  }

  /** The slots, one after the other. */
  *slots(): Iterable<number> {
    for (const [first, last] of this.ranges) for (let slot = first; slot <= last; slot++) yield slot;
  }

  /** Checks whether the move can go on: called at the end of each event. */
  abstract review(): void;

  /** Gives the move up, with a message as CLUSTER MIGRATION has it. */
  cancel(why: Bytes): void {
    const state = describedState(this);
    this.finish('cancelled', `Cancelled due to ${why} (state: ${state}, rdb_channel_state: none)`);
  }

  /** Ends the move. The connection to the other side is closed. */
  abstract finish(state: 'success' | 'cancelled' | 'failed', message?: Bytes): void;

  /** Tells the other side that this one is there. */
  abstract acknowledge(): void;

  /** How CLUSTER GETSLOTMIGRATIONS describes the move. */
  describe(): Reply {
    const seconds = (at: Millis): number => Math.floor(at / 1000);
    const { ends } = this;
    return new MapReply([
      ...['name', this.name, 'operation', this.operation, 'slot_ranges', textOf(this.ranges)],
      ...(ends === undefined ? [] : ['target_node', ends.target, 'source_node', ends.source]),
      ...['create_time', seconds(this.createdAt), 'last_update_time', seconds(this.updatedAt)],
      ...['last_ack_time', seconds(this.heardAt), 'state', this.state, 'message', this.message],
      ...['cow_size', 0, 'remaining_repl_size', this.pending],
    ]);
  }
}

/** The words of CLUSTER MIGRATION for states. A state that has none is one of a move that has ended. */
const TASK_STATES: Partial<Record<MoveState, Bytes>> = {
  'asking-source': 'connecting',
  'waiting-to-ask': 'failed',
  'waiting-for-ack': 'syncslots-reply',
  'receiving-snapshot': 'accumulate-buffer',
  'waiting-for-paused': 'streaming-buffer',
  'failover-requested': 'wait-stream-eof',
  connecting: 'wait-rdbchannel',
  'reading-auth-response': 'wait-rdbchannel',
  'reading-establish-response': 'wait-rdbchannel',
  snapshotting: 'send-bulk-and-stream',
  replicating: 'send-stream',
  'waiting-to-pause': 'handoff-prep',
  'failover-paused': 'handoff',
  'failover-granted': 'stream-eof',
  success: 'completed',
  cancelled: 'canceled',
  failed: 'failed',
};

/** The state of a move in the words of CLUSTER MIGRATION. */
export function describedState({ state }: Move): Bytes {
  return TASK_STATES[state] ?? state;
}

/** How CLUSTER MIGRATION STATUS of Redis describes a move. */
export function describeTask(move: Move): Reply {
  const { ends, state } = move;
  const ended = state === 'success' || state === 'cancelled';
  return new MapReply([
    ...[
      'id',
      move.name,
      'slots',
      textOf(move.ranges),
      'source',
      ends?.source ?? '',
      'dest',
      ends?.target ?? '',
    ],
    ...['operation', move.operation === 'IMPORT' ? 'import' : 'migrate', 'state', describedState(move)],
    ...['last_error', move.message, 'retries', move.retries, 'create_time', move.createdAt],
    ...['start_time', move.startedAt, 'end_time', ended ? move.updatedAt : -1, 'write_pause_ms', move.paused],
  ]);
}

/** The ranges as CLUSTER GETSLOTMIGRATIONS writes them. */
export function textOf(ranges: readonly SlotRange[]): Bytes {
  return ranges.map(([first, last]) => `${first}-${last}`).join(' ');
}

/** Returns whether two lists of ranges have a slot in common. */
export function overlap(some: readonly SlotRange[], others: readonly SlotRange[]): boolean {
  return some.some(([first, last]) => others.some(([from, to]) => last >= from && first <= to));
}
