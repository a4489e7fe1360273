/** Writes down anew what redis-server answers: `npx tsx test/transcripts/record-golden.ts transactions.txt`, or 'all'. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RealTarget } from '../support/targets.ts';
import { recordGolden } from './golden.ts';

const folder = join(import.meta.dirname, '..', 'golden');
const wanted = process.argv.slice(2);
const target = await RealTarget.start();
for (const name of readdirSync(folder)) {
  if (name.endsWith('.txt') && (wanted.includes(name) || wanted.includes('all'))) {
    await recordGolden(join(folder, name), target);
  }
}
await target.stop();
