/**
 * `npm run explore:replays`: plays every world of docs/libraries.md again, and says which have another trace on this Node.
 * With `--on redis-server`, says instead which are not confirmed on real servers.
 */
import '../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { replay } from '../../explore/index.ts';
import { folder, install } from './install.ts';
import { optionsOf, releaseOptionsOf, zoo } from './zoo.ts';

process.setSourceMapsEnabled(false);
install();
const { on } = parseArgs({ options: { on: { type: 'string' } } }).values;

/** The texts of the page, by the name of the library: `| cause | outcome | `text` |` under a heading. */
function* textsOf(page: string): Generator<{ name: string; outcome: string; text: string }> {
  let name = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('### ')) name = line.slice(4);
    const [, outcome, text] = /^\| [^|]+ \| ([^|]+) \| `(1:[^`]+)` \|$/.exec(line) ?? [];
    if (outcome !== undefined && text !== undefined) yield { name, outcome, text };
  }
}

const specimens = zoo(folder);
let [same, different, left] = [0, 0, 0];
for (const { name, outcome, text } of textsOf(readFileSync('docs/libraries.md', 'utf8'))) {
  const specimen = specimens.find((each) => each.name === name);
  if (specimen === undefined) throw new Error(`the page has ${name}, which is not explored`);
  // Real processes share the clock of the machine.
  if (on !== undefined && text.includes('clock-')) {
    left++;
    continue;
  }
  const options = outcome.includes('release') ? releaseOptionsOf(specimen) : optionsOf(specimen);
  const trouble = await replay(options, text, on === undefined ? {} : { on }).then(
    ({ breaches, story }) =>
      breaches.length > 0 && !story.includes(', in another order\n') ? undefined : story.split('\n', 1)[0],
    (error: Error) => error.message,
  );
  if (trouble === undefined) same++;
  else {
    different++;
    console.log(`${name}: ${text}: ${trouble}`);
  }
}
console.log(
  on === undefined
    ? `Node ${process.version}: ${same} worlds have the same trace, ${different} another one`
    : `${on}: ${same} worlds are confirmed, ${different} are not, and ${left} with faults of clocks are not played`,
);
// On real time, timers of the libraries are left, which would use clients that are closed.
process.exit(same === 0 || different > 0 ? 1 : 0);
