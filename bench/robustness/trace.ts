/**
 * `npm run bench:trace`: how long a PING waits while a lab makes a trace, when the server's own thread makes it (as up to
 * version 0.1) and when LAB TRACE makes it in a thread. The lab is a process of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { startLab } from '../../lab/remote/serve.ts';
import { timelineFile } from '../../lab/timeline/timeline.ts';

/** The lab: prints its ports, and makes a trace in its own thread when it is asked to. */
async function serve(): Promise<void> {
  const lab = await startLab();
  process.on('message', () => {
    const text = JSON.stringify(timelineFile([lab.pair.timelineData()]));
    process.send?.({ length: text.length });
  });
  process.once('disconnect', () => process.exit());
  process.send?.({ url: lab.url, control: lab.labPort });
}

/** The longest and the usual time of a PING while something is done, in milliseconds. */
async function pinged(redis: Redis, work: Promise<unknown>): Promise<string> {
  const times: number[] = [];
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  const begun = performance.now();
  while (!isOver) {
    const sent = performance.now();
    await redis.ping();
    times.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const took = performance.now() - begun;
  times.sort((a, b) => a - b);
  const [longest = 0, median = 0] = [times.at(-1), times[times.length >> 1]];
  return `longest PING ${longest.toFixed(0)} ms, median ${median.toFixed(1)} ms, ${times.length} PINGs in ${took.toFixed(0)} ms`;
}

async function measure(title: string, fill: (redis: Redis) => Promise<unknown>): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['serve']);
  const [{ url, control }] = (await once(child, 'message')) as [{ url: string; control: number }];
  const [client, redis, lab] = [new Redis(url), new Redis(url), new Redis(control)];
  await redis.ping();
  await fill(client);
  await redis.ping();
  child.send('trace');
  const made = once(child, 'message') as Promise<[{ length: number }]>;
  const before = await pinged(redis, made);
  const [{ length }] = await made;
  console.log(`${title}: a trace of ${(length / 1e6).toFixed(1)} MB`);
  console.log(`  in the server's thread: ${before}`);
  console.log(`  LAB TRACE:              ${await pinged(redis, lab.call('LAB', 'TRACE'))}`);
  for (const each of [client, redis, lab]) each.disconnect();
  child.disconnect();
  await once(child, 'exit');
}

if (process.argv[2] === 'serve') await serve();
else {
  await measure('2,500 SETs, one after the other', async (client) => {
    for (let i = 0; i < 2500; i++) await client.set(`key:${i}`, 'v');
  });
  await measure('18,000 SETs in pipelines of 10', async (client) => {
    for (let i = 0; i < 1800; i++) {
      const pipeline = client.pipeline();
      for (let k = 0; k < 10; k++) pipeline.set(`key:${i}:${k}`, 'v');
      await pipeline.exec();
    }
  });
}
