/** Draws the pictures of timelines in docs/ from runs of the demo's stories. */
import { namedStories } from '../../lab/demo/stories.ts';
import { drawScene } from '../../page/drawing/draw.ts';
import { sceneHeight } from '../../page/drawing/legend.ts';
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

/** The picture that plays by itself, at the top of README.md. */
const MOVING = { file: 'lost-lock.svg', of: 'timeline.svg' };

/**
 * The picture with a style that draws it from left to right, again and again. Without style sheets, and for readers who asked for
 * less motion, it is whole.
 */
function moving(svg: string): string {
  const [, clip = '', width = ''] =
    /<clipPath id="(clip-\w+-\d+)"><rect [^>]*width="([\d.]+)"/.exec(svg) ?? [];
  const style = [
    `@keyframes draw { 0% { width: 0 } 70%, 100% { width: ${width}px } }`,
    `@media (prefers-reduced-motion: no-preference) { #${clip} rect { animation: draw 9s linear infinite } }`,
  ];
  return svg.replace('</title>', `</title>\n<style>${style.join(' ')}</style>`);
}

/** Every picture as an SVG file, by its name: the same with every call. Rejects when a story was not recorded. */
export async function timelinePictures(): Promise<ReadonlyMap<string, string>> {
  const pictures = new Map<string, string>();
  for (const [file, [story, title]] of Object.entries(PICTURES)) {
    const run = (await namedStories[story]?.(7))?.timeline;
    if (run === undefined) throw new Error(`the story ${story} has no timeline`);
    const scene = new RunView(run);
    const pen = new SvgPen(WIDTH, sceneHeight(scene, WIDTH));
    drawScene(sheetOf(pen, scene, themes.light, WIDTH));
    const svg = pen.svg(title);
    pictures.set(file, svg);
    if (file === MOVING.of) pictures.set(MOVING.file, moving(svg));
  }
  return pictures;
}
