/** Draws the scenes of a page below each other, for files. */
import { drawScene } from './draw.ts';
import { sceneHeight } from './legend.ts';
import type { Pen } from './pen.ts';
import { sheetOf } from './sheet.ts';
import type { Theme } from './theme.ts';
import type { RunView } from './view.ts';

/** The height of a title above its scene. */
const TITLE = 34;

/** How high the picture is. One scene has no title in it. */
export function pictureHeight(scenes: readonly RunView[], width: number): number {
  const titles = scenes.length > 1 ? scenes.length * TITLE : 0;
  return scenes.reduce((sum, scene) => sum + sceneHeight(scene, width), titles);
}

/** Draws the present windows of the scenes. */
export function drawPicture(pen: Pen, scenes: readonly RunView[], theme: Theme, width: number): void {
  pen.rect(0, 0, width, pictureHeight(scenes, width), theme.ground);
  let y = 0;
  for (const scene of scenes) {
    if (scenes.length > 1) {
      pen.text(10, y + 23, scene.run.title, { colour: theme.ink, size: 16, bold: true });
      y += TITLE;
    }
    pen.shifted(y, () => drawScene(sheetOf(pen, scene, theme, width)));
    y += sceneHeight(scene, width);
  }
}
