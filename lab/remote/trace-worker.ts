/** The thread of a trace: collects the parts of a run, and makes the data of its timeline, or its sentences. */
import { parentPort } from 'node:worker_threads';
import { fromText } from '../../protocol/bytes.ts';
import type { RecordedRun } from '../timeline/record.ts';
import { timelineFile, timelineOf } from '../timeline/timeline.ts';
import type { TraceForm, TraceList, TracePart } from './trace-thread.ts';

let head: Omit<RecordedRun, TraceList> | undefined;
const lists: Record<TraceList, unknown[]> = { messages: [], events: [], writes: [], restarts: [] };

function made(form: TraceForm): string | string[] {
  const timeline = timelineOf({ ...head, ...lists } as RecordedRun);
  if (form === 'data') return fromText(JSON.stringify(timelineFile([timeline])));
  return timeline.story.map(({ at, text }) => fromText(`${(at / 1000).toFixed(3)} ms: ${text}`));
}

parentPort?.on('message', (part: TracePart) => {
  if ('head' in part) head = part.head;
  else if ('list' in part) for (const entry of part.entries) lists[part.list].push(entry);
  else parentPort?.postMessage(made(part.form));
});
