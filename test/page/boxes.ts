/** Measures where the texts of a page's drawing are: what the page really writes on its canvas, in the browser's own fonts. */
import type { Page } from '../support/chromium.ts';

/** A text on the canvas, in CSS pixels. */
export interface TextBox {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Notes every text of the last drawing of each canvas. */
const SPY = `(() => {
  const texts = new WeakMap();
  const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
    const { a, d } = this.getTransform();
    if (x === 0 && y === 0 && width * a >= this.canvas.width - 1 && height * d >= this.canvas.height - 1) texts.set(this.canvas, []);
    return fillRect.call(this, x, y, width, height);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { a, d, e, f } = this.getTransform();
    const size = this.measureText(text);
    const left = x - size.actualBoundingBoxLeft;
    const right = x + size.actualBoundingBoxRight;
    const ratio = window.devicePixelRatio;
    const at = (value, scale, shift) => (value * scale + shift) / ratio;
    texts.get(this.canvas)?.push({
      text,
      left: at(left, a, e),
      right: at(right, a, e),
      top: at(y - size.actualBoundingBoxAscent, d, f),
      bottom: at(y + size.actualBoundingBoxDescent, d, f),
    });
    return fillText.call(this, text, x, y);
  };
  window.textsOf = (canvas) => texts.get(canvas) ?? [];
})()`;

/** Must be called before the page is opened. */
export async function spyOnTexts(page: Page): Promise<void> {
  await page.addInitScript({ content: SPY });
}

/** The texts of the page's first drawing. */
export async function textsOn(page: Page): Promise<readonly TextBox[]> {
  const frames = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';
  await page.evaluate(frames);
  return (await page.evaluate(
    "window.textsOf(document.querySelector('.stage canvas:not(.map)'))",
  )) as TextBox[];
}

/** The pairs of texts of which one covers a part of the other, and the texts that leave the drawing, in words. */
export function faultsIn(boxes: readonly TextBox[], width: number): string[] {
  const faults: string[] = [];
  for (const [i, one] of boxes.entries()) {
    if (one.left < -0.5 || one.right > width + 0.5) faults.push(`'${one.text}' leaves the drawing`);
    for (const other of boxes.slice(i + 1)) {
      const [across, down] = [
        Math.min(one.right, other.right) - Math.max(one.left, other.left),
        Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top),
      ];
      if (across > 0.5 && down > 0.5) faults.push(`'${one.text}' covers '${other.text}'`);
    }
  }
  return faults;
}
