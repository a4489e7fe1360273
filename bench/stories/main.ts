/** `npm run explore:stories`: tells findings of the zoo, of the specimens and of public reports, and checks each story. */
import '../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { defined } from '../../base/defined.ts';
import { replayText } from '../../explore/anchors/replay-text.ts';
import { type ExploreOptions, explore } from '../../explore/index.ts';
import { storyOf } from '../../explore/story/story.ts';
import { type BrokenWorld, playBroken } from '../../test/explore/play-finding.ts';
import { folder, install } from '../libraries/install.ts';
import { optionsOf, zoo } from '../libraries/zoo.ts';
import { specimens } from '../specimens/list.ts';
import { brokenWorlds } from './broken-worlds.ts';
import { problemsOf } from './check.ts';
import { reportModels, withoutModel } from './reports.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '120' },
    reduced: { type: 'string', default: '40' },
    only: { type: 'string' },
    print: { type: 'boolean', default: false },
  },
});
/** How many stories there must be, and the longest that the median of their lengths may be. */
const [LEAST, MEDIAN] = [150, 12];

/** What was told and checked. */
const lengths: number[] = [];
let wrong = 0;
let told = 0;

function check(name: string, { world, breach }: Pick<BrokenWorld, 'world' | 'breach'>): void {
  const { events, text } = storyOf(world, breach, name);
  told++;
  if (values.print) console.log(`\n${text}`);
  if (breach.promise !== 'mutual-exclusion') return;
  lengths.push(events.length);
  const problems = problemsOf(world, breach, events);
  if (problems.length === 0) return;
  wrong++;
  console.log(`\n${text}\nreplay: ${replayText(world)}\nPROBLEMS: ${problems.join('; ')}`);
}

function* explored(): Generator<ExploreOptions> {
  for (const { number, faults, unsafe, topology, promises } of specimens)
    yield { name: number, client: unsafe, faults, clients: 3, ...defined({ topology, promises }) };
  for (const { report, ...model } of reportModels) yield { name: report, clients: 3, ...model };
}

/** The worlds of docs/libraries.md, by the name of the library. */
function* pageOf(page: string): Generator<{ name: string; text: string }> {
  let name = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('### ')) name = line.slice(4);
    const [, text] = /^\| [^|]+ \| two holders \| `([12]:[^`]+)` \|$/.exec(line) ?? [];
    if (text !== undefined) yield { name, text };
  }
}

const wanted = (name: string): boolean => values.only === undefined || new RegExp(values.only).test(name);
const before = (): string => `${lengths.length} stories of two holders, ${told} in all`;

if (values.only === undefined || values.only.includes('zoo')) {
  install();
  const libraries = await zoo(folder);
  for (const { name, text } of pageOf(readFileSync('docs/libraries.md', 'utf8'))) {
    const library = libraries.find((each) => each.name === name);
    if (library !== undefined) check(name, await playBroken(optionsOf(library), text));
  }
  console.log(`the zoo: ${before()}`);
}
for (const options of explored()) {
  if (!wanted(options.name)) continue;
  const worlds = options.topology?.cluster === undefined ? Number(values.worlds) : 10;
  // Once as they are found, and once reduced, as a report has them.
  for (const found of await brokenWorlds(options, worlds)) check(options.name, found);
  const { findings } = await explore({ ...options, budget: { worlds: Number(values.reduced), ms: 300_000 } });
  for (const { replay } of findings)
    if (replay !== '') check(options.name, await playBroken(options, replay));
  console.log(`${options.name}: ${before()}`);
}
console.log(`\nWithout a model:`);
for (const { report, why } of withoutModel) console.log(`  ${report}: ${why}`);
lengths.sort((a, b) => a - b);
const median = lengths[lengths.length >> 1] ?? 0;
console.log(
  `\n${lengths.length} stories of two holders were checked, ${wrong} of them lack something; ${told} stories in all; median ${median} events, longest ${lengths.at(-1) ?? 0}`,
);
const enough = values.only !== undefined || lengths.length >= LEAST;
if (!enough) console.log(`there must be at least ${LEAST}`);
process.exit(wrong > 0 || median > MEDIAN || !enough ? 1 : 0);
