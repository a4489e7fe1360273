/** The errors that callers get when a server is silent for longer than the request time-out. */
import { expect, test } from 'vitest';
import { LockError, type Locks, OutcomeUnknown } from '../../../locks/index.ts';
import { inLab } from '../failures/lab.ts';

const patient = {
  'a permit': async (locks: Locks) => {
    await locks.semaphore('L').trySetPermits(1);
    return locks.semaphore('L').acquire();
  },
  'a lock': (locks: Locks) => locks.reentrant('L').acquire(),
};

test.each(Object.entries(patient))(
  'a release of %s without an answer rejects as unknown',
  async (_what, acquire) => {
    const error = await inLab(1, async (lab) => {
      const locks = await lab.locks('A');
      const held = await lab.as('A', () => acquire(locks));
      lab.replies('A').hold();
      return lab.as('A', () => held.release().catch((reason: unknown) => reason));
    });
    expect(error).toBeInstanceOf(OutcomeUnknown);
    expect((error as Error).cause, 'told once').not.toBeInstanceOf(LockError);
  },
);
