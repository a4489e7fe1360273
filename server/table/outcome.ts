/** What became of a request: its reply, or why there is none at this moment. */
import type { Reply } from '../../protocol/reply.ts';

/** Why a handler returns no reply. */
export class Unanswered {
  readonly why: 'blocked' | 'paused' | 'silent';

  constructor(why: Unanswered['why']) {
    this.why = why;
  }
}

/** The client waits (BLPOP, WAIT). The end of its wait answers it. */
export const BLOCKED = new Unanswered('blocked');
/** The client's script is still running. Its reply goes to what `SlowScript.afterwards` was given. */
export const PAUSED = new Unanswered('paused');
/** The handler has written what there is to write, or there is nothing to say (SUBSCRIBE, REPLCONF ACK). */
export const SILENT = new Unanswered('silent');

export type Outcome = Reply | Unanswered;
