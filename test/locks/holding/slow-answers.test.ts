/** A hold of any kind is kept while its renewals are executed, however late the server's answers come. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import type { LocksOptions } from '../../../locks/index.ts';
import { everyKind } from '../every-kind.ts';
import { inLab, type Lab } from '../failures/lab.ts';

const LEASE_MS = 1000;
/** There and back, messages take 0.38 of the lease. */
const SLOW_MS = 190;

/** From now on the ways between A and all servers are slow. */
function slowDown(lab: Lab, byMs: number): void {
  for (const { primary } of lab.sets) {
    lab.requests('A', primary).delay(byMs);
    lab.replies('A', primary).delay(byMs);
  }
}

const replicated = (options: LocksOptions): string =>
  options.replicas === undefined ? 'without replicas' : `with replicas: ${options.replicas}`;

describe.each<LocksOptions>([{}, { replicas: 1 }, { replicas: 'all' }])('%j', (options) => {
  const kinds = everyKind.filter(({ primaries }) => primaries === 1 || options.replicas === undefined);
  test.each(kinds)(
    `$name, ${replicated(options)}: a hold stays when answers become slow, and the server has forgotten the scripts`,
    ({ acquire, primaries }) =>
      inLab(
        1,
        async (lab) => {
          const locks = await lab.locks('A', { leaseMs: LEASE_MS, ...options });
          const held = await lab.as('A', () => acquire(locks));
          for (const { primary } of lab.sets) primary.server.scripts.flush();
          slowDown(lab, SLOW_MS);
          await lab.advance(10 * LEASE_MS);
          expect(held.signal.reason).toBeUndefined();
          slowDown(lab, 0);
          await lab.as('A', () => held.release());
        },
        primaries,
      ),
  );
});

test('an answer that comes after its lease prolongs nothing', () =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A', { leaseMs: LEASE_MS });
    const held = await lab.as('A', () => locks.simple('lock').acquire());
    slowDown(lab, LEASE_MS);
    await lab.advance(LEASE_MS);
    expect(held.signal.aborted).toBe(true);
  }));

test('a script that the server does not know is sent whole after an answer that came too late', () =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A', { requestTimeoutMs: 300 });
    await lab.as('A', () => locks.simple('first').using(() => {}));
    lab.pair.primary.server.scripts.flush();
    slowDown(lab, 200);
    const held = await lab.as('A', () =>
      locks
        .simple('lock')
        .acquire({ waitMs: 0 })
        .catch(() => null),
    );
    expect(held).toBeNull(); // Its requests were answered too late.
    slowDown(lab, 0);
    lab.pair.primary.server.scripts.flush();
    await lab.advance(60_000);
    await lab.as('A', () => locks.simple('lock').using(() => {}));
    expect(await lab.raw.exists('lock')).toBe(0);
  }));
