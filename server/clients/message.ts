/** A push message that is encoded once for each protocol, however many clients receive it. */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { PushReply, type Reply } from '../../protocol/reply.ts';

/** A message for any number of clients, encoded at most once for each protocol. */
export class PushMessage {
  readonly #reply: PushReply;
  #resp2: Bytes | undefined;
  #resp3: Bytes | undefined;

  constructor(...items: Reply[]) {
    this.#reply = new PushReply(items);
  }

  /** Returns the encoded message for a version of the protocol. */
  bytes(protocol: 2 | 3): Bytes {
    if (protocol === 2) return (this.#resp2 ??= encodeReply(this.#reply, 2));
    return (this.#resp3 ??= encodeReply(this.#reply, 3));
  }
}
