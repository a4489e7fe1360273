/** The playground's worker: the lab, the locks and the explorer in a browser. The page can end it at any time. */
import { onBeat } from './browser/globals.ts';
import './browser/seclusion.ts';
import '../lab/router.ts';
import type { PlayReply, PlayRequest } from './cases/messages.ts';
import { findLoss, playCase } from './play.ts';

/** The worker's global object, as far as it is used here. */
interface WorkerScope {
  onmessage: ((event: { readonly data: PlayRequest }) => void) | null;
  postMessage(reply: PlayReply): void;
}

const scope = globalThis as unknown as WorkerScope;
// Code in worlds may run until the page ends the worker, so that nothing but its own timers may disturb it.
const post = scope.postMessage.bind(scope);

async function answer({ id, what, play }: PlayRequest): Promise<PlayReply> {
  try {
    if (what === 'play') return { id, what: 'played', played: await playCase(play) };
    const progress = (worlds: number, of: number): void => post({ id, what: 'progress', worlds, of });
    return { id, what: 'found', found: await findLoss(play, progress) };
  } catch (error) {
    return { id, what: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

scope.onmessage = ({ data }) => {
  const { id } = data;
  const alive = (): void => post({ id, what: 'alive' });
  alive();
  onBeat(alive);
  void answer(data).then(post);
};
