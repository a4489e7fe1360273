/** A push message that is encoded once for each protocol, and joined to the same output once, for all clients. */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { PushReply, type Reply } from '../../protocol/reply.ts';

/** Output that consists of messages only. Clients of one protocol that got the same messages have the same one. */
export class SharedOutput {
  readonly protocol: 2 | 3;
  readonly bytes: Bytes;

  constructor(protocol: 2 | 3, bytes: Bytes) {
    this.protocol = protocol;
    this.bytes = bytes;
  }
}

/** A message in one protocol. */
class Encoded {
  readonly bytes: Bytes;
  /** The output that it was last added to, and the result. */
  #before: SharedOutput | undefined;
  #after: SharedOutput | undefined;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  addedTo(output: SharedOutput): SharedOutput {
    if (this.#after !== undefined && this.#before === output) return this.#after;
    this.#before = output;
    return (this.#after = new SharedOutput(output.protocol, output.bytes + this.bytes));
  }
}

/** A message for any number of clients, encoded at most once for each protocol. */
export class PushMessage {
  readonly #reply: PushReply;
  #resp2: Encoded | undefined;
  #resp3: Encoded | undefined;

  constructor(...items: Reply[]) {
    this.#reply = new PushReply(items);
  }

  /** Returns the encoded message for a version of the protocol. */
  bytes(protocol: 2 | 3): Bytes {
    return this.#in(protocol).bytes;
  }

  /**
   * Returns the output with this message at its end. Clients of one protocol that got the same messages before share
   * the result: a thousand subscribers otherwise have a thousand copies of it, which are joined and collected one by one.
   */
  addedTo(output: SharedOutput): SharedOutput {
    return this.#in(output.protocol).addedTo(output);
  }

  #in(protocol: 2 | 3): Encoded {
    if (protocol === 2) return (this.#resp2 ??= new Encoded(this.encode(2)));
    return (this.#resp3 ??= new Encoded(this.encode(3)));
  }

  protected encode(protocol: 2 | 3): Bytes {
    return encodeReply(this.#reply, protocol);
  }
}
