/**
 * Runs a campaign of random lock lives, or replays one world of it: `npm run campaign -- --lives 20000`, or `--replay 184`. Each
 * world has a seed, from `--seed` on. A long campaign can be played in parts: the last line of one says with which seed the next
 * begins.
 */
import { parseArgs } from 'node:util';
import { obey, runCampaign, type Tally } from './crew.ts';
import { draw, KINDS } from './draw.ts';
import type { KindName } from './plan.ts';
import { PLANTS, type Plant } from './plants.ts';
import { play } from './play.ts';
import { tellStory } from './story.ts';

/** A campaign reports its progress each time that it has lived so many lives more. */
const PROGRESS = 50_000;

const { values } = parseArgs({
  options: {
    lives: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    kind: { type: 'string' },
    /** A defect that the locks once had, to prove that it is found. */
    plant: { type: 'string' },
    replay: { type: 'string' },
    /** Replays the world as it was drawn, without making it smaller. */
    whole: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
});

const kind = values.kind as KindName | undefined;
if (kind !== undefined && !KINDS.includes(kind)) {
  throw new RangeError(`--kind ${kind}: must be one of ${KINDS.join(', ')}`);
}
const plant = values.plant as Plant | undefined;
if (plant !== undefined && !PLANTS.includes(plant)) {
  throw new RangeError(`--plant ${plant}: must be one of ${PLANTS.join(', ')}`);
}
const wholeNumber = (name: 'lives' | 'seed' | 'jobs' | 'replay'): number => {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`--${name} ${values[name]}: must be a whole number from 0`);
};

if (values.worker) obey();
else if (values.replay !== undefined) await replay(wholeNumber('replay'));
else await live();

async function replay(seed: number): Promise<void> {
  const plan = draw(seed, kind);
  const outcome = await play(plan, { hash: true, plant });
  console.log(values.whole ? outcome.story.join('\n') : await tellStory(plan, outcome, { plant }));
  console.log(`trace ${outcome.hash}`);
  process.exitCode = outcome.violations.length > 0 ? 1 : 0;
}

async function live(): Promise<void> {
  const started = performance.now();
  const campaign = {
    seed: wholeNumber('seed'),
    lives: wholeNumber('lives'),
    jobs: wholeNumber('jobs'),
    kind,
    plant,
  };
  const line = ({ lives, grants, worlds, failures }: Tally): string => {
    const speed = Math.round((lives * 1000) / (performance.now() - started));
    return `${lives} lives, ${grants} grants in ${worlds} worlds; ${speed} lives a second; ${failures.length} failed`;
  };
  let reported = 0;
  let told = 0;
  const { failures, ...counts } = await runCampaign(campaign, (soFar) => {
    for (const failure of soFar.failures.slice(reported)) {
      const [first] = failure.violations;
      console.log(
        `seed ${failure.seed} (${failure.kind}), before life ${soFar.lives}: ${first?.rule}: ${first?.what}`,
      );
    }
    reported = soFar.failures.length;
    if (soFar.lives < told + PROGRESS) return;
    told = soFar.lives;
    console.log(`so far ${line(soFar)}`);
  });
  console.log(line({ failures, ...counts }));
  const next = campaign.seed + counts.worlds;
  console.log(`played seeds ${campaign.seed} to ${next - 1}; the next part begins with --seed ${next}`);
  for (const { seed } of failures.slice(0, 3)) {
    const plan = draw(seed, kind);
    console.log(await tellStory(plan, await play(plan, { plant }), { plant }));
  }
  process.exitCode = failures.length > 0 ? 1 : 0;
}
