/** Draws the pictures of timelines in docs/ from runs of the demo's stories. */
import { namedStories } from '../../lab/demo/stories.ts';
import { drawScene } from '../../page/drawing/draw.ts';
import { SvgPen } from '../../page/drawing/pen.ts';
import { sheetOf } from '../../page/drawing/sheet.ts';
import { themes } from '../../page/drawing/theme.ts';
import { RunView } from '../../page/drawing/view.ts';

/** The width of the picture, in CSS pixels. */
const WIDTH = 1000;

/** The pictures by the names of their files: the story that each one draws, and what it shows. */
const PICTURES: Readonly<Record<string, readonly [story: string, title: string]>> = {
  'timeline.svg': ['failover', 'The lost lock: two clients hold my:lock'],
  'timeline-wait.svg': ['wait', 'WAIT answers 0, and A gives the lock back'],
  'timeline-redlock.svg': ['redlock-clock', 'Redlock, and a clock that jumps: two clients hold my:lock'],
  'timeline-fence.svg': ['fence', 'The store refuses the smaller fence'],
};

/** Every picture as an SVG file, by its name: the same with every call. Rejects when a story was not recorded. */
export async function timelinePictures(): Promise<ReadonlyMap<string, string>> {
  const pictures = new Map<string, string>();
  for (const [file, [story, title]] of Object.entries(PICTURES)) {
    const run = (await namedStories[story]?.(7))?.timeline;
    if (run === undefined) throw new Error(`the story ${story} has no timeline`);
    const scene = new RunView(run);
    const pen = new SvgPen(WIDTH, scene.height);
    drawScene(sheetOf(pen, scene, themes.light, WIDTH));
    pictures.set(file, pen.svg(title));
  }
  return pictures;
}
