/** Has the conversations of the corpus with a server, and records what the server sent and whether it disconnected. */
import { createHash } from 'node:crypto';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RawClient, settle, type Target } from '../support/raw-client.ts';

/** What the server did. A reply of more than 1000 bytes is stored as its length and SHA-1. */
export interface Outcome {
  readonly reply: Bytes;
  readonly closed: boolean;
}

/** The outcome of a whole message and, for a short one, each cut in two that had another outcome. */
export interface Recorded extends Outcome {
  readonly cuts?: Readonly<Record<number, Outcome>>;
}

/** Longer messages are not cut. */
const CUT_MAX = 100;

/** Sends the pieces one after the other. Each is sent when the server has processed the previous one. */
async function converse(target: Target, fence: RawClient, pieces: readonly Bytes[]): Promise<Outcome> {
  const client = await RawClient.connect(target);
  for (const piece of pieces) {
    if (client.ending !== undefined) break;
    await client.send(piece);
    await settle(fence, piece.length);
  }
  const reply = client.received;
  const closed = client.ending !== undefined;
  client.close();
  if (reply.length <= 1000) return { reply, closed };
  return { reply: `${reply.length} ${createHash('sha1').update(toBuffer(reply)).digest('hex')}`, closed };
}

/**
 * Every outcome of one message on fresh connections, sent whole and, when short, cut in two.
 * @param isCut whether to cut in front of a byte; at every byte by default
 */
export async function record(
  target: () => Target,
  fence: RawClient,
  bytes: Bytes,
  isCut: (at: number) => boolean = () => true,
): Promise<Recorded> {
  const whole = await converse(target(), fence, [bytes]);
  const cuts: Record<number, Outcome> = {};
  if (bytes.length <= CUT_MAX) {
    for (let at = 1; at < bytes.length; at++) {
      if (!isCut(at)) continue;
      const outcome = await converse(target(), fence, [bytes.slice(0, at), bytes.slice(at)]);
      if (outcome.reply !== whole.reply || outcome.closed !== whole.closed) cuts[at] = outcome;
    }
  }
  return Object.keys(cuts).length > 0 ? { ...whole, cuts } : whole;
}
