/** The details of the selected event, in words. */
import { timesText, timeText } from '../drawing/axis.ts';
import type { Selection } from '../drawing/view.ts';
import type { Timeline, TimelineMessage } from '../format.ts';
import { overlapTitle } from '../plain.ts';
import { readable } from '../text.ts';
import { button, element } from './elements.ts';

/** What a kind of message is called. */
const KINDS: Record<TimelineMessage['kind'], string> = {
  request: 'Request',
  reply: 'Reply',
  stream: 'Replication stream',
  ack: 'Acknowledgement',
  service: 'Connection upkeep',
};

/** Shows an event. @param go selects another event @param expert true to show its bytes without a click */
export function showDetails(
  root: HTMLElement,
  run: Timeline,
  selection: Selection | undefined,
  go: (to: Selection) => void,
  expert = false,
): void {
  if (selection === undefined) {
    root.replaceChildren(
      element('p', { class: 'keys' }, 'Select a sentence or an arrow to see what is in it.'),
    );
    return;
  }
  const { type, index } = selection;
  const rows: [string, Node | string][] = [];
  let title = '';
  if (type === 'mark') {
    const mark = run.marks[index];
    title = `${mark?.lane}${mark?.to === undefined ? '' : ` to ${mark.to}`}: ${mark?.text}`;
    rows.push(['At', timeText(mark?.at ?? 0)]);
  } else if (type === 'overlap') {
    const overlap = run.overlaps[index];
    title = overlap === undefined ? '' : overlapTitle(run, overlap);
    rows.push(
      ['From', timeText(overlap?.from ?? 0)],
      ['To', timeText(overlap?.to ?? 0)],
      ['For', timeText((overlap?.to ?? 0) - (overlap?.from ?? 0))],
    );
  } else title = messageRows(run, index, rows, go);
  root.replaceChildren(element('h2', {}, title), listOf(rows));
  const message = type === 'message' ? run.messages[index] : undefined;
  if (message === undefined) return;
  const bytes = element('details', {}, element('summary', {}, 'Bytes'), listOf(byteRows(message)));
  bytes.open = expert;
  root.append(bytes);
}

function listOf(rows: readonly (readonly [string, Node | string])[]): HTMLElement {
  return element(
    'dl',
    {},
    ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  );
}

/** What only experts read. */
function byteRows({ offsets, port, bytes }: TimelineMessage): [string, Node | string][] {
  const rows: [string, Node | string][] = [];
  if (offsets !== undefined)
    rows.push(['Offset', offsets[0] === offsets[1] ? `${offsets[1]}` : `${offsets[0]} to ${offsets[1]}`]);
  rows.push(['Port', port], ['Bytes', element('code', {}, `${bytes.length}: ${printable(bytes)}`)]);
  return rows;
}

function messageRows(
  run: Timeline,
  index: number,
  rows: [string, Node | string][],
  go: (to: Selection) => void,
): string {
  const message = run.messages[index];
  if (message === undefined) return '';
  const { from, to, sent, due, arrived, died, fate, why, cause, text } = message;
  const ended = arrived ?? died ?? (fate === 'waiting' ? run.end : due);
  const [sentAt, endedAt] = timesText(sent, ended);
  rows.push(['From', `${from} to ${to}`], ['Command', element('code', {}, text)], ['Sent', sentAt]);
  if (arrived !== null)
    rows.push([
      'Arrived',
      `${endedAt}${arrived - due > 1 ? `, after waiting for ${timeText(arrived - due)}` : ''}`,
    ]);
  else if (fate === 'waiting') {
    const state = due > run.end ? 'was still on its way' : 'still waited';
    rows.push(['Arrived', `not yet: it ${state} when the run ended, at ${endedAt}`]);
  } else rows.push(['Arrived', `never: lost at ${endedAt}`]);
  if (why !== undefined) rows.push(['Why', why]);
  if (cause !== undefined) {
    const label = `${run.messages[cause]?.from}: ${run.messages[cause]?.text}`;
    rows.push(['Because of', button(label, () => go({ type: 'message', index: cause }))]);
  }
  return KINDS[message.kind];
}

function printable(bytes: string): string {
  const short = bytes.length > 600 ? `${bytes.slice(0, 600)}...` : bytes;
  return short.split('\r\n').map(readable).join('\u21b5\n');
}
