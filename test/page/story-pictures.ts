/** The pictures of a story's page that are kept: two palettes at three widths, of the drawing alone and of the whole page. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeTimeline } from '../../lab/timeline/write.ts';
import type { Timeline } from '../../page/format.ts';
import type { Browser, Page } from '../support/chromium.ts';
import { drawn, makeNeutral, type Picture, pictureOf, stacked } from '../support/pictures/pictures.ts';

/** Where the pictures are kept, a file for each story and kind. */
export const KEPT = join(import.meta.dirname, 'pictures');
/** The sizes of the window. */
const SIZES = [
  [390, 1500],
  [900, 1100],
  [1600, 1000],
] as const;
const DRAWING = "document.querySelector('.stage canvas:not(.map)').toDataURL('image/png')";

/** The pictures of one story, by kind. */
export interface Pictures {
  readonly drawing: Picture;
  readonly page: Picture;
}

/** Selects the sentence of the lost write, or the last one: then its way is drawn as well. */
async function select(page: Page, { story }: Timeline): Promise<void> {
  const lost = story.findIndex(({ text, about = {} }) => /\blost\b/.test(text) && 'message' in about);
  const index = lost === -1 ? story.length - 1 : lost;
  await page.evaluate(`document.querySelectorAll('ol.story button')[${index}].click()`);
}

/** Draws runs in a browser. */
export class StoryPictures {
  readonly #browser: Browser;
  readonly #bench: Page;
  readonly #folder: string;

  /** @param bench from openBench @param folder for the pages' files */
  constructor(browser: Browser, bench: Page, folder: string) {
    this.#browser = browser;
    this.#bench = bench;
    this.#folder = folder;
  }

  /** The pictures of a run, of each palette and size. */
  async of(run: Timeline): Promise<Pictures> {
    const page = await this.#open(run);
    const [drawings, pages]: [Picture[], Picture[]] = [[], []];
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [width, height] of SIZES) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height });
        drawings.push(await this.#drawing(page));
        pages.push(await pictureOf(this.#bench, (await page.screenshot()).toString('base64')));
      }
    }
    await page.close();
    return { drawing: stacked(drawings), page: stacked(pages) };
  }

  /** The picture of the drawing alone, in light and at the middle size. */
  async drawingOf(run: Timeline): Promise<Picture> {
    const page = await this.#open(run);
    const [width, height] = SIZES[1];
    await page.setViewportSize({ width, height });
    const drawing = await this.#drawing(page);
    await page.close();
    return drawing;
  }

  async #open(run: Timeline): Promise<Page> {
    const file = join(this.#folder, 'picture.html');
    await writeTimeline(file, [run]);
    const page = await this.#browser.newPage({});
    await makeNeutral(page);
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('ol.story button');
    await select(page, run);
    return page;
  }

  async #drawing(page: Page): Promise<Picture> {
    await drawn(page);
    const [, drawing = ''] = String(await page.evaluate(DRAWING)).split(',');
    return await pictureOf(this.#bench, drawing);
  }
}
