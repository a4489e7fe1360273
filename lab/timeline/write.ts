/** Writes timelines to files: as a page for a browser, or as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { badOption } from '../../base/options.ts';
import { pageCode } from '../../page/bundle.ts';
import type { Timeline, TimelineBack } from '../../page/format.ts';
import { timelineHtml } from '../../page/html.ts';
import { timelineFile } from './timeline.ts';

/** Throws TypeError unless timelines can be written to a file of this name. */
export function checkTimelineFile(where: string, file: unknown): void {
  if (typeof file === 'string' && /\.(html|json)$/.test(file)) return;
  throw badOption(where, file, "the name of a file that ends in '.html' or '.json'");
}

/**
 * Writes runs to a file: a self-contained page (`.html`) or their data (`.json`). Creates its folder.
 * @param back the page that they belong to, to which the page links
 */
export async function writeTimeline(
  file: string,
  runs: readonly Timeline[],
  back?: TimelineBack,
): Promise<void> {
  checkTimelineFile('timeline', file);
  const data = timelineFile(runs, back);
  const text = file.endsWith('.json') ? `${JSON.stringify(data)}\n` : timelineHtml(data, await pageCode());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
