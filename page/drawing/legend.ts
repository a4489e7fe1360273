/** Says below the lanes what the lines and crosses of the drawing mean. */
import type { Ink } from './pen.ts';
import type { Sheet } from './sheet.ts';

const LENGTH = 20;

/** Draws the legend, in as many rows as it takes. */
export function drawLegend({ pen, scene, theme, width }: Sheet): void {
  const entries: readonly (readonly [text: string, ink: Ink])[] = [
    ['request', { colour: theme.request, width: 2 }],
    ['reply', { colour: theme.reply, width: 2 }],
    ['replication', { colour: theme.stream, width: 2 }],
    ['acknowledgement', { colour: theme.ack, width: 2, dash: [5, 3] }],
    ['waiting', { colour: theme.stream, width: 2, dash: [2, 4] }],
    ['lost', { colour: theme.ink, width: 3 }],
    ...(scene.absences.some(({ why }) => why === 'dead') ? [['dead', { colour: theme.line }] as const] : []),
    ...(scene.absences.some(({ why }) => why === 'paused')
      ? [['paused', { colour: theme.line }] as const]
      : []),
  ];
  const look = { colour: theme.faint, size: 12 };
  let [x, y] = [10, scene.foot + 14];
  for (const [text, ink] of entries) {
    const room = LENGTH + 6 + pen.widthOf(text, look);
    if (x + room > width) [x, y] = [10, y + 18];
    const [middle, line] = [x + LENGTH / 2, y - 4];
    if (text === 'lost')
      pen.lines(
        [middle - 5, line - 5, middle + 5, line + 5, middle - 5, line + 5, middle + 5, line - 5],
        ink,
      );
    else if (text === 'dead' || text === 'paused') {
      pen.rect(x, line - 6, LENGTH, 12, theme.line, 0.3);
      if (text === 'dead')
        pen.lines([x, line + 6, x + 12, line - 6, x + 8, line + 6, x + LENGTH, line - 6], ink);
    } else pen.lines([x, line, x + LENGTH, line], ink);
    pen.text(x + LENGTH + 6, y, text, look);
    x += room + 18;
  }
}
