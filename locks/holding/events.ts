/** What happens to locks, told to listeners and to the diagnostics channel `lostlock:locks`. */
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';

export type LockEventName = 'acquired' | 'extended' | 'lost' | 'released';

export interface LockEvent {
  readonly event: LockEventName;
  readonly lock: string;
  readonly owner: string;
  readonly token: string;
  /** Only of fenced locks. */
  readonly fence?: number;
  /** With `lost`: why. */
  readonly reason?: string;
  /** With `acquired`: how long it took in milliseconds, and how often the server was asked. */
  readonly waitedMs?: number;
  readonly attempts?: number;
}

/** Every lock event of the process goes here, for tracing tools. */
export const lockChannel = channel('lostlock:locks');

export class LockEvents extends EventEmitter<Record<LockEventName, [LockEvent]>> {
  /** Whether anybody listens: where nobody does, no event need be made. */
  hasListeners(event: LockEventName): boolean {
    return lockChannel.hasSubscribers || this.listenerCount(event) > 0;
  }

  publish(event: LockEvent): void {
    if (lockChannel.hasSubscribers) lockChannel.publish(event);
    for (const listener of this.listeners(event.event)) {
      try {
        listener.call(this, event);
      } catch (error) {
        // A listener's own failure: not the lock's, which is held or given back all the same.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
