/** `npm run demo`: shows on a virtual clock how failovers lose locks. Options: `--seed N`, `--json`, `--redis`. */
import '../router.ts';
import { parseArgs } from 'node:util';
import { painter, storyLines, verdictTable } from './print.ts';
import type { Played } from './stage.ts';
import { stories } from './stories.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
    redis: { type: 'boolean', default: false },
  },
});
if (!/^\d{1,9}$/.test(values.seed)) {
  console.error(`--seed ${values.seed}: allowed is a whole number`);
  process.exit(2);
}

const played: Played[] = [];
if (values.redis) {
  played.push(await (await import('./real-story.ts')).realFailover());
} else {
  for (const story of stories) played.push(await story(Number(values.seed)));
}
if (values.json) {
  console.log(JSON.stringify(played, undefined, 2));
} else {
  const paint = painter(process.stdout.isTTY === true && process.env.NO_COLOR === undefined);
  for (const story of played) console.log(storyLines(story, paint).join('\n'));
  console.log(verdictTable(played, paint).join('\n'));
}
