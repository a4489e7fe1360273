/** Holds the conversations of the corpus with a server and notes all that came back, and whether it hung up. */
import { createHash } from 'node:crypto';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RawClient, settle, type Target } from '../support/raw-client.ts';

/** What the server did. A reply beyond 1000 bytes is kept as its length and SHA-1. */
export interface Outcome {
  readonly reply: Bytes;
  readonly closed: boolean;
}

/** What it did with a whole message and, for a short one, with each way to cut it in two that had another outcome. */
export interface Recorded extends Outcome {
  readonly cuts?: Readonly<Record<number, Outcome>>;
}

/** Longer messages are not cut at every byte. */
const CUT_MAX = 100;

/** Sends the pieces one after the other, each when the server has dealt with the one before. */
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

/** Every outcome of one message on fresh connections, sent whole and, when short, cut in two at every byte. */
export async function record(target: () => Target, fence: RawClient, bytes: Bytes): Promise<Recorded> {
  const whole = await converse(target(), fence, [bytes]);
  const cuts: Record<number, Outcome> = {};
  if (bytes.length <= CUT_MAX) {
    for (let at = 1; at < bytes.length; at++) {
      const outcome = await converse(target(), fence, [bytes.slice(0, at), bytes.slice(at)]);
      if (outcome.reply !== whole.reply || outcome.closed !== whole.closed) cuts[at] = outcome;
    }
  }
  return Object.keys(cuts).length > 0 ? { ...whole, cuts } : whole;
}
