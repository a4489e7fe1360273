/** Draws docs/timeline.svg from the run of the demo's first story. */
import { namedStories } from '../lab/demo/stories.ts';
import { drawScene } from '../page/drawing/draw.ts';
import { SvgPen } from '../page/drawing/pen.ts';
import { sheetOf } from '../page/drawing/sheet.ts';
import { themes } from '../page/drawing/theme.ts';
import { RunView } from '../page/drawing/view.ts';

/** The width of the picture, in CSS pixels. */
const WIDTH = 1000;

/** The lost lock as an SVG file: the same with every call. Rejects when the story was not recorded. */
export async function timelinePicture(): Promise<string> {
  const run = (await namedStories.failover?.(7))?.timeline;
  if (run === undefined) throw new Error('the story has no timeline');
  const scene = new RunView(run);
  const pen = new SvgPen(WIDTH, scene.height);
  drawScene(sheetOf(pen, scene, themes.light, WIDTH));
  return pen.svg('The lost lock: two clients hold my:lock');
}
