/** What went over the bus in one direction: messages by their type, and bytes. */
import type { MessageType } from './message.ts';

export class Traffic {
  readonly counts = new Map<MessageType, number>();
  bytes = 0;
  /** Those of messages of pub/sub. */
  pubsubBytes = 0;

  /** Counts a message of so many bytes. */
  count(type: MessageType, bytes: number): void {
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    this.bytes += bytes;
    if (type === 'publish' || type === 'publishshard') this.pubsubBytes += bytes;
  }
}
