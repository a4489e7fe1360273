/** `npm run explore:replays`: plays every world of docs/libraries.md again, and says which have another trace on this Node. */
import '../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { replay } from '../../explore/index.ts';
import { folder, install } from './install.ts';
import { optionsOf, releaseOptionsOf, zoo } from './zoo.ts';

process.setSourceMapsEnabled(false);
install();

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
let [same, different] = [0, 0];
for (const { name, outcome, text } of textsOf(readFileSync('docs/libraries.md', 'utf8'))) {
  const specimen = specimens.find((each) => each.name === name);
  if (specimen === undefined) throw new Error(`the page has ${name}, which is not explored`);
  const options = outcome.includes('release') ? releaseOptionsOf(specimen) : optionsOf(specimen);
  const trouble = await replay(options, text).then(
    ({ breaches }) => (breaches.length > 0 ? undefined : 'no promise is broken'),
    (error: Error) => error.message,
  );
  if (trouble === undefined) same++;
  else {
    different++;
    console.log(`${name}: ${text}: ${trouble}`);
  }
}
console.log(`Node ${process.version}: ${same} worlds have the same trace, ${different} another one`);
if (same === 0 || different > 0) process.exitCode = 1;
