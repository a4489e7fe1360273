/** What drawings are made with: one interface for the canvas of the page and for SVG files. */
import { type Theme, themes } from './theme.ts';

/** How lines and texts look. */
export interface Ink {
  readonly colour: string;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly opacity?: number;
}

/** How a text is set. */
export interface Lettering {
  readonly colour: string;
  readonly size?: number;
  readonly bold?: boolean;
  readonly anchor?: 'start' | 'middle' | 'end';
  /** A colour behind the text. */
  readonly behind?: string;
}

/** Draws on a surface. Coordinates are CSS pixels. */
export interface Pen {
  /** Draws separate lines of one look: x1, y1, x2, y2, and so on. */
  lines(points: readonly number[], ink: Ink): void;
  /** Fills closed triangles of one colour: three points each. */
  triangles(points: readonly number[], colour: string): void;
  /** Fills rectangles of one colour: x, y, width, height, and so on. */
  bars(points: readonly number[], colour: string, opacity: number): void;
  rect(
    x: number,
    y: number,
    width: number,
    height: number,
    fill: string,
    opacity?: number,
    radius?: number,
  ): void;
  text(x: number, y: number, text: string, look: Lettering): void;
  /** How wide the text is. */
  widthOf(text: string, look: Lettering): number;
  /** Draws inside a rectangle only. */
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
  /** Draws so far below. */
  shifted(y: number, draw: () => void): void;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** The CSS font of a text. */
export function fontOf({ size = 13, bold = false }: Lettering): string {
  return `${bold ? '600 ' : ''}${size}px ${FONT}`;
}

const [NARROW, WIDE, CAPITAL] = [/[ijlfrt.,:;'|!() ]/, /[mwMW@\u2192]/, /[A-Z]/];

/** The colours of a drawing on dark ground, by those on light ground. */
const DARK = new Map(
  Object.entries(themes.light).flatMap(([name, light]) => {
    const dark = themes.dark[name as keyof Theme];
    return typeof light === 'string' && typeof dark === 'string' && light !== dark ? [[light, dark]] : [];
  }),
);

/** Writes SVG. Drawn in the light theme, it has the dark one for those who prefer dark pages. */
export class SvgPen implements Pen {
  readonly #parts: string[] = [];
  readonly #width: number;
  readonly #height: number;
  #clips = 0;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  lines(points: readonly number[], { colour, width = 1, dash = [], opacity = 1 }: Ink): void {
    let path = '';
    for (let i = 0; i + 3 < points.length; i += 4)
      path += `M${short(points[i])} ${short(points[i + 1])}L${short(points[i + 2])} ${short(points[i + 3])}`;
    if (path === '') return;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    const faint = opacity < 1 ? ` stroke-opacity="${opacity}"` : '';
    this.#parts.push(
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}${faint}/>`,
    );
  }

  triangles(points: readonly number[], colour: string): void {
    let path = '';
    for (let i = 0; i + 5 < points.length; i += 6) {
      const [a, b, c, d, e, f] = points.slice(i, i + 6).map(short);
      path += `M${a} ${b}L${c} ${d}L${e} ${f}Z`;
    }
    if (path !== '') this.#parts.push(`<path d="${path}" fill="${colour}"/>`);
  }

  bars(points: readonly number[], colour: string, opacity: number): void {
    let path = '';
    for (let i = 0; i + 3 < points.length; i += 4) {
      const [x, y, width, height] = points.slice(i, i + 4).map(short);
      path += `M${x} ${y}h${width}v${height}h-${width}Z`;
    }
    if (path !== '') this.#parts.push(`<path d="${path}" fill="${colour}" fill-opacity="${opacity}"/>`);
  }

  rect(x: number, y: number, width: number, height: number, fill: string, opacity = 1, radius = 0): void {
    const faint = opacity < 1 ? ` fill-opacity="${opacity}"` : '';
    const round = radius > 0 ? ` rx="${radius}"` : '';
    this.#parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"${faint}${round}/>`,
    );
  }

  text(x: number, y: number, text: string, look: Lettering): void {
    const { colour, size = 13, bold = false, anchor = 'start', behind } = look;
    if (behind !== undefined) {
      const width = this.widthOf(text, look);
      const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
      this.rect(left - 2, y - size + 1, width + 4, size + 4, behind, 0.85, 3);
    }
    this.#parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${colour}" font-size="${size}"${bold ? ' font-weight="600"' : ''} text-anchor="${anchor}">${escaped(text)}</text>`,
    );
  }

  /** Rather too wide than too narrow: which font shows the file is not known. */
  widthOf(text: string, { size = 13, bold = false }: Lettering): number {
    let ems = 0;
    for (const letter of text)
      ems += NARROW.test(letter) ? 0.38 : WIDE.test(letter) ? 0.96 : CAPITAL.test(letter) ? 0.7 : 0.63;
    return ems * size * (bold ? 1.08 : 1);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `${OWN}${this.#clips++}`;
    this.#parts.push(
      `<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.#parts.push('</g>');
  }

  shifted(y: number, draw: () => void): void {
    this.#parts.push(`<g transform="translate(0 ${y})">`);
    draw();
    this.#parts.push('</g>');
  }

  /** The drawing as an SVG file. @param title what it shows, for those who cannot see it */
  svg(title: string): string {
    const size = `width="${this.#width}" height="${this.#height}" viewBox="0 0 ${this.#width} ${this.#height}"`;
    const font = FONT.replaceAll('"', "'");
    const drawing = this.#parts.join('\n');
    const id = `drawing-${checksum(title + drawing)}`;
    // By its own id: a page may have several drawings in it.
    const rules = [...DARK].flatMap(([light, dark]) =>
      ['fill', 'stroke'].flatMap((what) =>
        drawing.includes(`${what}="${light}"`) ? [`#${id} [${what}="${light}"]{${what}:${dark}}`] : [],
      ),
    );
    const style = `<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" id="${id}" ${size} font-family="${font}" role="img"><title>${escaped(title)}</title>\n${style}\n${drawing.replaceAll(OWN, `clip-${id}-`)}\n</svg>\n`;
  }
}

/** Stands for the beginning of the drawing's own ids until its content is known. No text of a drawing has this character. */
const OWN = '\u0000';

/** Eight digits that tell drawings apart: two of them in one page must not share ids (FNV-1a). */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

function short(value = 0): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[^ -~\u00a0-\uffff]/g, '?').replace(/[&<>"]/g, (each) => named[each] as string);
}
