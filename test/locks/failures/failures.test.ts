/** The failures of the catalogue in the lab, over many seeds: the naive form fails whenever its fault fires, ours never does. */
import { expect, test } from 'vitest';
import { preventedTitle, titleOf } from '../../catalogue/titles.ts';
import { keeper } from '../../lab/scenarios/plays.ts';
import { isLongRun, sampleOf } from '../../support/long.ts';
import { acquiring } from './acquiring.ts';
import { around } from './around.ts';
import { believed } from './believed.ts';
import { counts } from './counts.ts';
import { issues } from './issues.ts';
import { kinds } from './kinds.ts';
import { type Failure, inLab } from './lab.ts';
import { lines } from './lines.ts';
import { messages } from './messages.ts';
import { refused } from './refused.ts';
import { unknown } from './unknown.ts';
import { waiting } from './waiting.ts';

const SEEDS = sampleOf(100, 2);

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

test('the run that a failure loses and the one that our locks keep have different titles', () => {
  const same = failures.filter((failure) => titleOf(failure) === preventedTitle(failure));
  expect(same.map(({ id }) => id)).toEqual([]);
});

test.each(failures.map((failure) => [failure.id, titleOf(failure), failure] as const))(
  '%s: %s',
  async (id, title, failure) => {
    const [number = ''] = id.split(';');
    const keep = {
      naive: keeper(number, title, 'unsafe'),
      ours: keeper(number, preventedTitle(failure), 'safe'),
    };
    let fired = 0;
    // The sample ends with the first seed under which the fault fires.
    for (let seed = 1; seed <= SEEDS && (isLongRun || fired === 0); seed++) {
      const naive = await inLab(seed, (lab) => failure.naive(lab), 1, failure.replicas, keep.naive);
      if (naive !== null) {
        fired++;
        expect(naive, `the naive form, seed ${seed}`).not.toEqual([]);
      }
      const ours = await inLab(
        seed,
        (lab) => failure.ours(lab),
        1,
        failure.replicas,
        naive === null ? undefined : keep.ours,
      );
      expect(ours, `ours, seed ${seed}`).toEqual([]);
    }
    expect(fired, 'seeds under which the fault fired').toBeGreaterThanOrEqual(SEEDS / 4);
  },
);
