/**
 * Failures of public reports as Python programs: each is found, with its cause in the sentence, and its twin without the flaw keeps its
 * promises. `npm run test:beside` plays the world of some of them; `npm run test:long` explores all of them. (needs python3)
 */
import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { describe, expect, test } from 'vitest';
import { explore } from '../../../explore/index.ts';
import { isLongRun, sampleOf } from '../../support/long.ts';
import { findProgram } from '../../support/redis-server.ts';
import { brokenBy } from './broken-by.ts';
import { explorationOf, REPORTED } from './reported.ts';

const LIMIT = 240_000;
/** How long a flaw may take to be found on two idle cores, in milliseconds. */
const FOUND_WITHIN = 120_000;

/** Keeps as many cores busy as this machine has, until it is disposed. */
function keepBusy(): Disposable {
  const busy = cpus().map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return {
    [Symbol.dispose]: () => {
      for (const each of busy) each.kill('SIGKILL');
    },
  };
}

describe.skipIf(findProgram('python3') === undefined)('failures of public reports (needs python3)', () => {
  const played = REPORTED.flatMap((each) =>
    each.fault === undefined ? [] : [{ ...each, fault: each.fault }],
  );

  test.each(played.slice(0, sampleOf(played.length, 3)))(
    '$name is broken by $fault, and the sentence names the cause',
    { timeout: LIMIT },
    async ({ fault, ...reported }) => {
      const played = (kind: 'flawed' | 'sound') =>
        brokenBy({ ...explorationOf(reported, kind), lease: 1000 }, fault);
      expect((await played('flawed'))[0]).toMatch(reported.cause);
      expect(await played('sound')).toEqual([]);
    },
  );

  test.each(isLongRun ? REPORTED : [])(
    '$name is found, and its twin breaks nothing',
    { timeout: 30 * LIMIT },
    async (reported) => {
      const budget = { worlds: 100_000, ms: FOUND_WITHIN };
      const begun = performance.now();
      const flawed = await explore({ ...explorationOf(reported, 'flawed'), budget, stopAtFirst: true });
      const found = Math.round(performance.now() - begun);
      expect(flawed.findings.map(({ sentence }) => sentence).join('\n')).toMatch(reported.cause);
      const worlds = Math.max(200, 10 * (flawed.findings[0]?.firstIn ?? 0));
      console.log(
        `${reported.name}: found in world ${flawed.findings[0]?.firstIn}, after ${found} ms; ${flawed.coverage.programs?.discarded} discarded of ${flawed.worlds}`,
      );
      using _busy = keepBusy();
      for (let time = 0; time < 3; time++) {
        const sound = await explore({
          ...explorationOf(reported, 'sound'),
          budget: { worlds, ms: 10 * FOUND_WITHIN },
        });
        console.log(
          `  its twin: ${sound.worlds} worlds, ${sound.coverage.programs?.discarded} discarded, ${Math.round(sound.ms)} ms, ${sound.verdict}`,
        );
        expect(sound.findings).toEqual([]);
      }
    },
  );
});
