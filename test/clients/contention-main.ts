/** Prints the trace hashes of seeds, for a test that compares them with another process': contention-main.ts first last. */
import { contend } from './contention.ts';

const [first, last] = process.argv.slice(2).map(Number) as [number, number];
for (let seed = last; seed >= first; seed--) {
  const { hash } = await contend(seed);
  process.stdout.write(`${seed} ${hash}\n`);
}
