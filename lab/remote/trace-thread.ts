/** Makes a trace in a thread of its own, so that the server goes on answering. */
import { Worker } from 'node:worker_threads';
import type { Bytes } from '../../protocol/bytes.ts';
import type { RecordedRun } from '../timeline/record.ts';
import { traceCode } from './trace-code.ts';

/** What LAB TRACE can return: the data of a timeline, or its sentences. */
export type TraceForm = 'data' | 'story';

/** What the thread receives: the run without its lists, then parts of these, then what to make of it. */
export type TracePart =
  | { readonly head: Omit<RecordedRun, TraceList> }
  | { readonly list: TraceList; readonly entries: readonly unknown[] }
  | { readonly form: TraceForm };

/** The lists of a run that grow with it. */
export type TraceList = 'messages' | 'events' | 'writes' | 'restarts';

/** A part has at most so many entries, and about so many characters of text. Each is copied in one turn of the event loop. */
const [MOST_ENTRIES, MOST_TEXT] = [200, 256 * 1024];

/**
 * Makes the trace of a run. The run must not change meanwhile, so give it copies of lists that grow.
 * Rejects when the thread ends without an answer.
 */
export async function traceInThread(run: RecordedRun, form: TraceForm): Promise<Bytes | Bytes[]> {
  const worker = new Worker(await traceCode(), { eval: true });
  worker.unref(); // A lab that stops waits for no trace.
  const answer = new Promise<Bytes | Bytes[]>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that makes the trace has ended')));
  });
  answer.catch(() => {}); // It may end while parts are still sent.
  try {
    for (const part of partsOf(run)) {
      worker.postMessage(part satisfies TracePart);
      await new Promise((resolve) => setImmediate(resolve));
    }
    worker.postMessage({ form } satisfies TracePart);
    return await answer;
  } finally {
    void worker.terminate();
  }
}

/** A run in parts, each small enough to be copied without a noticeable pause. */
function* partsOf(run: RecordedRun): Generator<TracePart> {
  const { messages, events, writes, restarts = [], ...head } = run;
  yield { head };
  const lists = { messages, events, writes, restarts } satisfies Record<TraceList, readonly unknown[]>;
  for (const list of Object.keys(lists) as TraceList[]) {
    let entries: unknown[] = [];
    let text = 0;
    for (const entry of lists[list]) {
      entries.push(entry);
      if ('detail' in entry) text += entry.detail.length;
      if (entries.length < MOST_ENTRIES && text < MOST_TEXT) continue;
      yield { list, entries };
      [entries, text] = [[], 0];
    }
    yield { list, entries };
  }
}
