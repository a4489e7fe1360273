/** Pictures of pages as coarse cells of colour: small enough to keep, and alike wherever the same page is drawn. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import type { Browser, Page } from '../chromium.ts';
import { neutralFont } from './neutral-font.ts';

/** A grid of cells, row by row, with red, green and blue of each. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly cells: Uint8Array;
}

/** How many pixels of the page a cell is wide and high. */
const CELL = 10;
/** Colours are kept in steps of this size. */
const STEP = 16;
/** How far a cell's colour may be from the kept one: the rounding, and what smooth edges differ between versions of a browser. */
const TOLERANCE = STEP + 8;

/** Makes a page draw all texts with a font that is the same everywhere, and its controls without the system's looks. */
export async function makeNeutral(page: Page): Promise<void> {
  await page.addInitScript({
    content: `{
    const bytes = Uint8Array.from(atob('${neutralFont().toString('base64')}'), (each) => each.charCodeAt(0));
    document.fonts.add(new FontFace('Neutral', bytes));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { font-family: Neutral !important; } input, select { appearance: none !important; }');
    document.adoptedStyleSheets = [sheet];
    const { get, set } = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, 'font');
    Object.defineProperty(CanvasRenderingContext2D.prototype, 'font', {
      get,
      set(font) {
        set.call(this, font.replace(/(px).*$/, '$1 Neutral'));
      },
    });
  }`,
  });
}

/** Resolves once the page is drawn at its present size and in its present colours. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    await document.fonts.ready;
    const frame = () => new Promise(requestAnimationFrame);
    const isFitting = (canvas) => canvas.width === canvas.clientWidth;
    do await frame(); while (![...document.querySelectorAll('canvas')].every(isFitting));
    // A change of size or colours is drawn in the frame after it.
    for (let i = 0; i < 3; i++) await frame();
  })()`);
}

/** Opens a page that decodes pictures. Its code is compiled once, which matters for millions of pixels. */
export async function openBench(browser: Browser): Promise<Page> {
  const bench = await browser.newPage({});
  await bench.evaluate(`globalThis.cellsOf = async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let cells = '';
    for (let top = 0; top < image.height; top += ${CELL}) {
      const bottom = Math.min(image.height, top + ${CELL});
      for (let left = 0; left < image.width; left += ${CELL}) {
        const right = Math.min(image.width, left + ${CELL});
        let red = 0, green = 0, blue = 0;
        for (let y = top; y < bottom; y++) {
          for (let at = 4 * (y * image.width + left); at < 4 * (y * image.width + right); at += 4) {
            red += data[at];
            green += data[at + 1];
            blue += data[at + 2];
          }
        }
        const count = (bottom - top) * (right - left);
        cells += String.fromCharCode(...[red, green, blue].map((sum) => Math.round(sum / count)));
      }
    }
    return [Math.ceil(image.width / ${CELL}), Math.ceil(image.height / ${CELL}), btoa(cells)];
  }; undefined`);
  return bench;
}

/** The cells of a PNG file. @param bench from openBench */
export async function pictureOf(bench: Page, png: string): Promise<Picture> {
  const found = await bench.evaluate(`cellsOf('data:image/png;base64,${png}')`);
  const [width, height, cells] = found as [number, number, string];
  return { width, height, cells: Uint8Array.from(Buffer.from(cells, 'base64')) };
}

/** Pictures one below the other. */
export function stacked(pictures: readonly Picture[]): Picture {
  const width = Math.max(...pictures.map((each) => each.width));
  const rows = pictures.flatMap((picture) =>
    Array.from({ length: picture.height }, (_, y) => {
      const row = new Uint8Array(3 * width);
      row.set(picture.cells.subarray(3 * y * picture.width, 3 * (y + 1) * picture.width));
      return row;
    }),
  );
  const cells = new Uint8Array(3 * width * rows.length);
  for (const [y, row] of rows.entries()) cells.set(row, 3 * width * y);
  return { width, height: rows.length, cells };
}

/** The cells that differ by more than the tolerance, as places: column and row. Pictures of different sizes differ everywhere. */
export function differences(kept: Picture, now: Picture): string[] {
  if (kept.width !== now.width || kept.height !== now.height)
    return [`size: ${kept.width} x ${kept.height} was kept, ${now.width} x ${now.height} is drawn`];
  const found = new Set<string>();
  for (const [i, value] of now.cells.entries()) {
    const cell = Math.floor(i / 3);
    if (Math.abs(value - (kept.cells[i] as number)) > TOLERANCE)
      found.add(`${cell % now.width},${Math.floor(cell / now.width)}`);
  }
  return [...found];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A PNG file of the picture, a pixel for each cell, with colours in steps. */
export function toPng({ width, height, cells }: Picture): Buffer {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (const [i, value] of cells.entries()) {
    const [y, x] = [Math.floor(i / (3 * width)), i % (3 * width)];
    rows[y * (1 + 3 * width) + 1 + x] = Math.min(255, Math.round(value / STEP) * STEP);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    ...[SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(rows, { level: 9 }))],
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Reads what `toPng` writes. */
export function fromPng(file: Buffer): Picture {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const begin = file.indexOf('IDAT') + 4;
  const rows = inflateSync(file.subarray(begin, begin + file.readUInt32BE(begin - 8)));
  const cells = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    const row = rows.subarray(y * (1 + 3 * width) + 1, (y + 1) * (1 + 3 * width));
    cells.set(row, 3 * y * width);
  }
  return { width, height, cells };
}
