/** Saves what is in view as a picture. */
import { SvgPen } from '../drawing/pen.ts';
import { drawPicture, pictureHeight } from '../drawing/picture.ts';
import { type Theme, themes } from '../drawing/theme.ts';
import type { RunView } from '../drawing/view.ts';
import { CanvasPen } from './canvas-pen.ts';
import { download, element } from './elements.ts';

/** Offers the scenes as a file, below each other. @param width of the drawings on the page, in CSS pixels */
export function savePicture(
  kind: 'svg' | 'png',
  scenes: readonly RunView[],
  theme: Theme,
  width: number,
): void {
  if (kind === 'svg') {
    const wide = Math.max(900, width);
    const pen = new SvgPen(wide, pictureHeight(scenes, wide));
    // The file has both appearances: what shows it chooses.
    drawPicture(pen, scenes, themes.light, wide);
    const title = scenes.map(({ run }) => run.title).join(' / ');
    download('timeline.svg', new Blob([pen.svg(title)], { type: 'image/svg+xml' }));
    return;
  }
  const height = pictureHeight(scenes, width);
  const ratio = window.devicePixelRatio || 1;
  const canvas = element('canvas', {
    width: String(Math.round(width * ratio)),
    height: String(Math.round(height * ratio)),
  });
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.scale(ratio, ratio);
  drawPicture(new CanvasPen(context), scenes, theme, width);
  canvas.toBlob((blob) => blob !== null && download('timeline.png', blob), 'image/png');
}
