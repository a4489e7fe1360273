/** Draws what an exploration in a test has found, so that the failure names pages to open. */
import type { ExploreOptions, ExploreReport } from '../explore/index.ts';
import { failurePath } from '../lab/timeline/failing.ts';

/** So many findings are drawn. */
const MOST = 5;

/** Plays the worlds of the findings again, and writes the timeline of each. Returns a line for each page; '' when there is none. */
export async function drawFindings(report: ExploreReport, options: ExploreOptions): Promise<string> {
  const { replay } = await import('../explore/index.ts');
  const lines: string[] = [];
  for (const [at, { replay: text, events, promise, cause }] of report.findings.slice(0, MOST).entries()) {
    const file = failurePath(report.name, `-${at + 1}`);
    // A world that ended its process would end this one too.
    if (file === undefined || text === '' || events.length === 0) continue;
    try {
      await (await replay(options, text)).timeline(file);
      lines.push(`timeline of ${promise} (${cause}): ${file}`);
    } catch (error) {
      // The stories are worth more than the pages.
      lines.push(
        `timeline of ${promise} (${cause}): not written: ${(error as Error).message.split('\n', 1)[0]}`,
      );
    }
  }
  return lines.join('\n');
}
