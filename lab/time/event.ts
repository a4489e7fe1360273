/** What a trace records: an event of a world, and how a message travelled. */

/** One event. */
export interface TraceEvent {
  /** Microseconds since the world began. */
  readonly at: number;
  /** The actor, or the two ends of a connection: `A:50000>primary`. */
  readonly who: string;
  /** The kind of event. */
  readonly what: string;
  /** Details; for a message, its bytes. */
  readonly detail: string;
  /** For a message: when it was sent, in microseconds since the world began. Not part of the hash. */
  readonly sent: number | undefined;
  /** For a message: when it reached the far end, where a closed gate or a paused receiver kept it waiting. Not part of the hash. */
  readonly due: number | undefined;
}

/** When a message was sent and reached the far end, in microseconds since the world began. */
export interface Travel {
  readonly sent: number;
  readonly due: number;
}
