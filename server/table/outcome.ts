/** The outcome of a request: its reply, or the reason why there is none yet. */
import type { Reply } from '../../protocol/reply.ts';

/** The reason why a handler returns no reply. */
export class Unanswered {
  readonly why: 'blocked' | 'paused' | 'silent';

  constructor(why: Unanswered['why']) {
    this.why = why;
  }
}

/** The client is blocked (BLPOP, WAIT). It is answered when the wait ends. */
export const BLOCKED = new Unanswered('blocked');
/** The client's script is still running. Its reply is passed to the function given to `SlowScript.afterwards`. */
export const PAUSED = new Unanswered('paused');
/** The handler has already written its output, or there is no reply (SUBSCRIBE, REPLCONF ACK). */
export const SILENT = new Unanswered('silent');

/** What a handler returns. */
export type Outcome = Reply | Unanswered;
