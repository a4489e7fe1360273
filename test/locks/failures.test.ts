/** The failures of the catalogue in the lab, over many seeds: the naive form fails wherever its fault fires, ours never. */
import { expect, test } from 'vitest';
import { sampleOf } from '../support/long.ts';
import { acquiring } from './failures/acquiring.ts';
import { around } from './failures/around.ts';
import { believed } from './failures/believed.ts';
import { counts } from './failures/counts.ts';
import { issues } from './failures/issues.ts';
import { kinds } from './failures/kinds.ts';
import { type Failure, inLab } from './failures/lab.ts';
import { lines } from './failures/lines.ts';
import { messages } from './failures/messages.ts';
import { refused } from './failures/refused.ts';
import { unknown } from './failures/unknown.ts';
import { waiting } from './failures/waiting.ts';

const SEEDS = sampleOf(100, 3);

const failures: readonly Failure[] = [
  ...acquiring,
  ...refused,
  ...unknown,
  ...waiting,
  ...lines,
  ...counts,
  ...kinds,
  ...messages,
  ...around,
  ...issues,
  ...believed,
];

test.each(failures.map((failure) => [failure.id, failure.title, failure] as const))(
  '%s: %s',
  async (_id, _title, failure) => {
    let fired = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const naive = await inLab(seed, (lab) => failure.naive(lab), 1, failure.replicas);
      if (naive !== null) {
        fired++;
        expect(naive, `the naive form, seed ${seed}`).not.toEqual([]);
      }
      const ours = await inLab(seed, (lab) => failure.ours(lab), 1, failure.replicas);
      expect(ours, `ours, seed ${seed}`).toEqual([]);
    }
    expect(fired, 'seeds under which the fault fired').toBeGreaterThanOrEqual(SEEDS / 4);
  },
);
