/** Prints how many bytes of a pair's world survive V8's minor collections, for surviving.realtime.test.ts. */
import '../../../lab/router.ts';
import { startPair } from '../../../lab/pair.ts';

declare const gc: (options?: { type: 'minor' }) => void;

/** Their bytes fit into the young generation. */
const WORLDS = 40;

async function play(): Promise<void> {
  await using pair = await startPair();
  await pair.failover({ crash: true });
  pair.restart('redis-1');
  await pair.advance(50);
}

for (let i = 0; i < 200; i++) await play(); // The first ones load code.
gc();
const before = process.memoryUsage().heapUsed;
for (let i = 0; i < WORLDS; i++) await play();
gc({ type: 'minor' });
gc({ type: 'minor' });
console.log(Math.round((process.memoryUsage().heapUsed - before) / WORLDS));
process.exit();
