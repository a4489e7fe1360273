/** Requests that try to outgrow the heap end with an error, and the process goes on. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { isLongRun, sampleOf } from '../../support/long.ts';
import { programText } from './outgrow.ts';

/** In megabytes. With a smaller heap, the sample is played in less time. */
const HEAP = sampleOf(512, 192);
/** How many programs a process plays. */
const BATCH = sampleOf(250, 5);

/** Plays programs in a process of their own. Returns what it printed, and how it ended. */
async function played(first: number): Promise<{ text: string; code: number | null; complaint: string }> {
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${HEAP}`,
      '--import',
      './test/support/loader/register.mjs',
      'test/server/host/outgrow.ts',
      String(first),
      String(BATCH),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  let [text, complaint] = ['', ''];
  child.stdout.on('data', (part) => (text += part));
  child.stderr.on('data', (part) => (complaint += part));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { text, code, complaint };
}

test(`programs that allocate in every way do not end a process with a heap of ${HEAP} MB`, async () => {
  for (let first = 0; first < sampleOf(2500, BATCH); first += BATCH) {
    const { text, code, complaint } = await played(first);
    const last = Number(text.trimEnd().split('\n').at(-1)?.split(' ')[0]);
    const story = `${programText(last)}\n${complaint.slice(0, 500)}`;
    expect({ text, code }, isLongRun ? story : story.slice(0, 2000)).toEqual({
      text: Array.from({ length: BATCH }, (_, i) => `${first + i} ok\n`).join(''),
      code: 0,
    });
  }
}, 3_600_000);
