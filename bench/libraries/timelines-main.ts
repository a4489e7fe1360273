/**
 * Plays the worlds of docs/libraries.md again, and writes the timeline of each into a folder, for the site: 1.html for the first
 * finding of the page, and so on. The names that it prints are those of the pages that it has written, one on each line.
 */
import '../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replay } from '../../explore/index.ts';
import { folder, install } from './install.ts';
import { textsOf } from './texts.ts';
import { replayOptionsOf, zoo } from './zoo.ts';

process.setSourceMapsEnabled(false);
const [out = '.'] = process.argv.slice(2);
install();
const specimens = await zoo(folder);
/** How many worlds have a title: each timeline of the site needs one of its own. */
const titles = new Map<string, number>();
for (const [at, { name, cause, outcome, text }] of [
  ...textsOf(readFileSync('docs/libraries.md', 'utf8')),
].entries()) {
  const specimen = specimens.find((each) => each.name === name);
  if (specimen === undefined) throw new Error(`the page has ${name}, which is not explored`);
  const options = replayOptionsOf(specimen, outcome);
  const plain = `${name}: ${outcome} (${cause})`;
  const count = (titles.get(plain) ?? 0) + 1;
  titles.set(plain, count);
  const title = count === 1 ? plain : `${plain}, world ${count}`;
  const played = await replay({ ...options, name: title }, text);
  if (played.breaches.length === 0) throw new Error(`${name}: ${text} breaks nothing: ${played.story}`);
  await played.timeline(join(out, `${at + 1}.html`));
  process.stdout.write(`${at + 1}.html\n`);
}
// Timers that libraries leave would keep the process.
process.exit(0);
