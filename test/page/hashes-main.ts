/** `npm run playground:hashes -- --seeds 200`: plays cases of the playground in Chromium and in Node, and compares their hashes. */
import '../../lab/router.ts';
import { parseArgs } from 'node:util';
import { serveFiles } from '../../cli/playground.ts';
import { playgroundFiles } from '../../playground/bundle.ts';
import type { PlayCase } from '../../playground/cases/case.ts';
import { FIRST_CASE } from '../../playground/cases/first.ts';
import { playLocks } from '../../playground/cases/locks.ts';
import { STORIES } from '../../playground/cases/stories.ts';
import { playCase } from '../../playground/play.ts';
import { launchChromium } from '../support/chromium.ts';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '200' } } });
const seeds = Number(values.seeds);
if (!Number.isInteger(seeds) || seeds < 1)
  throw new RangeError(`--seeds ${values.seeds}: must be a whole number from 1`);

/** The case of a seed: every lock, every story, and faults of all kinds in turn. */
function caseOf(seed: number): PlayCase {
  if (seed % 5 === 0) return { ...FIRST_CASE, story: STORIES[(seed / 5) % STORIES.length]?.[0] ?? '', seed };
  const { name, code, nodes } = playLocks[seed % playLocks.length] as (typeof playLocks)[number];
  const at = (seed * 7) % 300;
  const replicated = [
    { kind: 'failover-behind', at, on: 'redis-1', ms: 5, by: 8, how: 'crash' },
    { kind: 'hold', at, on: 'redis-2', ms: 800, by: 0, how: '' },
    { kind: 'promote', at, on: 'redis-2', ms: 0, by: 0, how: '' },
  ];
  const everywhere = [
    { kind: 'client-pause', at, on: 'A', ms: 1500, by: 0, how: '' },
    { kind: 'restart-empty', at, on: 'redis-1', ms: 400, by: 0, how: '' },
    { kind: 'lost-reply', at, on: 'A', ms: 0, by: 0, how: '' },
    { kind: 'clock-jump', at, on: 'redis-1', ms: 0, by: 1100, how: '' },
  ];
  const faults = nodes === 'pair' ? [...replicated, ...everywhere] : everywhere;
  const step = faults[seed % faults.length] as PlayCase['steps'][number];
  const clients = ['A', 'B', 'C'].slice(0, 2 + (seed % 2));
  if (seed % 13 === 6) return { ...FIRST_CASE, nodes: seed % 2 === 0 ? 'cluster' : 'sentinels', seed };
  return { ...FIRST_CASE, lock: name, code, nodes, seed, clients, jitter: seed % 3, steps: [step] };
}

const site = await serveFiles(await playgroundFiles(), 0);
const browser = await launchChromium();
const page = await browser.newPage({});
await page.goto(site.url);
await page.evaluate("globalThis.worker = new Worker('worker.js'); undefined");
let different = 0;
for (let seed = 1; seed <= seeds; seed++) {
  const play = caseOf(seed);
  // The worker also says that it is alive, and how far it is.
  const ask = `new Promise((done) => { worker.onmessage = ({ data }) => {
      if (data.what === 'played') done(data.played.hash);
      if (data.what === 'failed') done(data.why);
    };
    worker.postMessage({ id: ${seed}, what: 'play', play: ${JSON.stringify(play)} }); })`;
  const there = await page.evaluate(ask);
  const here = await playCase(play).then(
    ({ hash }) => hash,
    (error: Error) => error.message,
  );
  if (here === there) continue;
  different++;
  console.log(`seed ${seed}: ${play.story || play.lock}: Node ${here}, Chromium ${there}`);
}
console.log(`${seeds} cases, ${different} with different hashes`);
await browser.close();
await site.close();
process.exitCode = different === 0 ? 0 : 1;
