/** Lock events, for listeners and for the diagnostics channel `lostlock:locks`. */
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';

export const LOCK_EVENTS = ['acquired', 'extended', 'lost', 'released'] as const;

/** The events of a lock's life. `lost` means that the hold ended without a release. */
export type LockEventName = (typeof LOCK_EVENTS)[number];

/** One event of one hold. */
export interface LockEvent {
  /** What has happened. */
  readonly event: LockEventName;
  /** The lock's name. */
  readonly lock: string;
  /** The owner: `<client id>:<owner id>`. */
  readonly owner: string;
  /** The value that identifies the holder on the server. */
  readonly token: string;
  /** The fencing token, for locks that have one. */
  readonly fence?: number;
  /** For `lost`: why. */
  readonly reason?: string;
  /** For `acquired`: how long it took, in milliseconds. */
  readonly waitedMs?: number;
  /** For `acquired`: how often the server was asked. */
  readonly attempts?: number;
}

/** The node:diagnostics_channel that gets every lock event of the process, for tracing tools. */
export const lockChannel = channel('lostlock:locks');

/** Emits the events of all locks of one `createLocks` call. */
export class LockEvents extends EventEmitter<Record<LockEventName, [LockEvent]>> {
  /** Whether anything listens; otherwise the event need not be created. */
  hasListeners(event: LockEventName): boolean {
    return lockChannel.hasSubscribers || this.listenerCount(event) > 0;
  }

  publish(event: LockEvent): void {
    if (lockChannel.hasSubscribers) lockChannel.publish(event);
    for (const listener of this.listeners(event.event)) {
      try {
        listener.call(this, event);
      } catch (error) {
        // A listener that throws must not affect the lock: the error is reported as uncaught.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
