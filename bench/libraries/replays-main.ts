/**
 * `npm run explore:replays`: plays every world of docs/libraries.md again, and says which have another trace on this Node.
 * With `--on redis-server`, plays each on real servers instead, `--times` times, and prints a table of what they confirm. `--busy`
 * keeps one core busy meanwhile. `--only` plays the worlds of some libraries, and `--page` those of another page.
 */
import '../../lab/router.ts';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { replay } from '../../explore/index.ts';
import { folder, install } from './install.ts';
import { type PlayedRow, textsOf } from './texts.ts';
import { replayOptionsOf, zoo } from './zoo.ts';

process.setSourceMapsEnabled(false);
install();
const { on, times, busy, only, page } = parseArgs({
  options: {
    on: { type: 'string' },
    times: { type: 'string', default: '1' },
    busy: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    page: { type: 'string', default: 'docs/libraries.md' },
  },
}).values;

/** What went wrong in a play; undefined when it shows the finding. */
async function troubleIn({ name, outcome, text }: PlayedRow): Promise<string | undefined> {
  const specimen = specimens.find((each) => each.name === name);
  if (specimen === undefined) throw new Error(`the page has ${name}, which is not explored`);
  const options = replayOptionsOf(specimen, outcome);
  return await replay(options, text, on === undefined ? {} : { on }).then(
    ({ breaches, story }) =>
      breaches.length > 0 && !/, in another order(?:\n|$)/.test(story) ? undefined : story.split('\n', 1)[0],
    (error: Error) => error.message,
  );
}

// On real time, timers of the libraries are left when a play ends, and use clients that are closed.
if (on !== undefined) process.on('unhandledRejection', () => {});
const specimens = await zoo(folder);
// A process of its own, which ends with this one: a thread would hold up the lab itself.
const SPINS =
  'process.on("disconnect", () => process.exit()); setInterval(() => { const end = Date.now() + 200; while (Date.now() < end); })';
const spinner = busy
  ? spawn(process.execPath, ['-e', SPINS], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  : undefined;
const wanted = on === undefined ? 1 : Number(times);
let [same, different, left] = [0, 0, 0];
if (on !== undefined) console.log(`| library | cause | ${on} | text |\n|---|---|---|---|`);
for (const row of textsOf(readFileSync(page, 'utf8'))) {
  const { name, cause, outcome, text } = row;
  if (!name.includes(only)) continue;
  // Real processes share the clock of the machine, and there a client is code in this process, which must not end.
  if (on !== undefined && (text.includes('clock-') || outcome.includes('error'))) {
    left++;
    continue;
  }
  const troubles: string[] = [];
  for (let play = 0; play < wanted; play++) {
    const trouble = await troubleIn(row);
    if (trouble !== undefined) troubles.push(trouble);
  }
  if (troubles.length === 0) same++;
  else different++;
  if (on !== undefined)
    console.log(`| ${name} | ${cause} | ${wanted - troubles.length} of ${wanted} | \`${text}\` |`);
  for (const trouble of troubles) console.log(`${name}: ${text}: ${trouble}`);
}
spinner?.kill();
console.log(
  on === undefined
    ? `Node ${process.version}: ${same} worlds have the same trace, ${different} another one`
    : `${on}: ${same} worlds are confirmed in ${wanted} of ${wanted} plays, ${different} are not, ${left} with faults of clocks or an ended client are not played`,
);
// Such timers would keep the process.
process.exit(same === 0 || different > 0 ? 1 : 0);
