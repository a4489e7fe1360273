/** Answers a LAB command later: when what it asked for has ended. */
import type { Reply } from '../../protocol/reply.ts';
import type { Caller } from '../../server/server.ts';
import { BLOCKED, type Outcome } from '../../server/table/outcome.ts';
import { problem } from './table.ts';

/** Answers the client when the control has ended. Until then it is blocked. */
export function whenDone(client: Caller, control: () => Promise<Reply>): Outcome {
  const { server } = client;
  server.blocking.block(client, { kind: 'lab', timeout: 0, timeoutReply: null });
  const answer = (reply: Reply): void => {
    // The node may have crashed, or the connection may have ended.
    if (server.stopped || client.blocked?.kind !== 'lab') return;
    server.blocking.release(client, reply);
    server.settle();
  };
  // The control begins when this request is over: a node cannot crash in the middle of one.
  Promise.resolve()
    .then(control)
    .then(answer, (error) => answer(problem(error)));
  return BLOCKED;
}
