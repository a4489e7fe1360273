/** Draws on a canvas of the page. */
import { fontOf, type Ink, type Lettering, type Pen } from '../drawing/pen.ts';

/** How many lines are drawn at once. */
const TOGETHER = 10;

/** A pen for one canvas; coordinates are CSS pixels. */
export class CanvasPen implements Pen {
  readonly #context: CanvasRenderingContext2D;
  readonly #widths = new Map<string, number>();

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
  }

  lines(points: readonly number[], { colour, width = 1, dash = [], opacity = 1 }: Ink): void {
    if (points.length === 0) return;
    const context = this.#context;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = opacity;
    context.setLineDash([...dash]);
    // A path of a thousand lines takes much longer than a hundred of ten.
    for (let begun = 0; begun + 3 < points.length; begun += 4 * TOGETHER) {
      context.beginPath();
      for (let i = begun; i + 3 < Math.min(points.length, begun + 4 * TOGETHER); i += 4) {
        context.moveTo(points[i] as number, points[i + 1] as number);
        context.lineTo(points[i + 2] as number, points[i + 3] as number);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  triangles(points: readonly number[], colour: string): void {
    if (points.length === 0) return;
    const context = this.#context;
    context.fillStyle = colour;
    context.beginPath();
    for (let i = 0; i + 5 < points.length; i += 6) {
      context.moveTo(points[i] as number, points[i + 1] as number);
      context.lineTo(points[i + 2] as number, points[i + 3] as number);
      context.lineTo(points[i + 4] as number, points[i + 5] as number);
    }
    context.fill();
  }

  bars(points: readonly number[], colour: string, opacity: number): void {
    const context = this.#context;
    context.fillStyle = colour;
    context.globalAlpha = opacity;
    for (let i = 0; i + 3 < points.length; i += 4)
      context.fillRect(
        points[i] as number,
        points[i + 1] as number,
        points[i + 2] as number,
        points[i + 3] as number,
      );
    context.globalAlpha = 1;
  }

  rect(x: number, y: number, width: number, height: number, fill: string, opacity = 1, radius = 0): void {
    const context = this.#context;
    context.fillStyle = fill;
    context.globalAlpha = opacity;
    if (radius > 0) {
      context.beginPath();
      context.roundRect(x, y, width, height, radius);
      context.fill();
    } else context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, look: Lettering): void {
    const { colour, size = 13, anchor = 'start', behind } = look;
    if (behind !== undefined) {
      const width = this.widthOf(text, look);
      const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
      this.rect(left - 2, y - size + 1, width + 4, size + 4, behind, 0.85, 3);
    }
    this.#context.font = fontOf(look);
    this.#context.textAlign = anchor === 'middle' ? 'center' : anchor;
    this.#context.fillStyle = colour;
    this.#context.fillText(text, x, y);
  }

  widthOf(text: string, look: Lettering): number {
    const font = fontOf(look);
    const name = `${font}${text}`;
    let width = this.#widths.get(name);
    if (width === undefined) {
      this.#context.font = font;
      width = this.#context.measureText(text).width;
      if (this.#widths.size > 5000) this.#widths.clear();
      this.#widths.set(name, width);
    }
    return width;
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
  }

  shifted(y: number, draw: () => void): void {
    const context = this.#context;
    context.save();
    context.translate(0, y);
    draw();
    context.restore();
  }
}
