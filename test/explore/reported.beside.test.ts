/** Failures that people reported: each breaks its promise, and its sound twin does not. */
import { expect, test } from 'vitest';
import { defined } from '../../base/defined.ts';
import { reported } from '../../bench/specimens/reported/index.ts';
import type { ReportedFailure } from '../../bench/specimens/reported/report.ts';
import { explore } from '../../explore/index.ts';
import { sampleOf } from '../support/long.ts';

/** The promises that break in so many worlds. */
async function brokenIn(
  { what, topology, faults, clients, promises }: ReportedFailure,
  client: ReportedFailure['sound'],
  worlds: number,
): Promise<string[]> {
  const { findings } = await explore({
    ...defined({ topology, faults, clients, promises }),
    ...{ name: what, client, budget: { worlds, ms: Infinity } },
  });
  return findings.map(({ promise }) => promise);
}

test.each(reported.map((each) => [each.breaks, each.what, each] as const))(
  '%s: %s',
  async (promise, _what, each) => {
    expect(await brokenIn(each, each.unsafe, each.within)).toContain(promise);
    expect(await brokenIn(each, each.sound, sampleOf(500, each.within))).not.toContain(promise);
  },
  600_000,
);
