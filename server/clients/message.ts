/** A push message that is encoded once for each protocol, and joined to the same output once, for all clients. */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { PushReply, type Reply } from '../../protocol/reply.ts';

/** Output that consists of messages only. Clients that got the same messages have the same one. */
export class SharedOutput {
  readonly bytes: Bytes;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }
}

/** A message for any number of clients, encoded at most once for each protocol. */
export class PushMessage {
  readonly #reply: PushReply;
  #resp2: Bytes | undefined;
  #resp3: Bytes | undefined;
  /** The output that this message was last added to, and the result. */
  #before: SharedOutput | undefined;
  #after: SharedOutput | undefined;

  constructor(...items: Reply[]) {
    this.#reply = new PushReply(items);
  }

  /** Returns the encoded message for a version of the protocol. */
  bytes(protocol: 2 | 3): Bytes {
    if (protocol === 2) return (this.#resp2 ??= encodeReply(this.#reply, 2));
    return (this.#resp3 ??= encodeReply(this.#reply, 3));
  }

  /**
   * Returns the output with this message at its end. Clients of one protocol that got the same messages before share
   * the result: a thousand subscribers otherwise have a thousand copies of it, which are joined and collected one by one.
   */
  addedTo(output: SharedOutput, protocol: 2 | 3): SharedOutput {
    if (this.#after !== undefined && this.#before === output) return this.#after;
    this.#before = output;
    return (this.#after = new SharedOutput(output.bytes + this.bytes(protocol)));
  }
}
