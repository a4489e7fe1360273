/**
 * Lock lives in the lab: clients that stall, die, lose replies and connections, judged by the independent checker.
 * `npm run test:long` lives a hundred thousand of them.
 */

import { expect, test } from 'vitest';
import { defined } from '../../../base/defined.ts';
import type { HeldLock, Lock, Locks } from '../../../locks/index.ts';
import { LockError } from '../../../locks/index.ts';
import { sampleOf } from '../../support/long.ts';
import { inLab, type Lab } from '../failures/lab.ts';
import { check, type LockEvent } from './checker.ts';

const LIVES = sampleOf(100_000, 220);
const PER_SEED = sampleOf(500, 110);
const PARTIES = 4;
const TASKS = 2;
const PERMITS = 3;

interface Kind {
  make(locks: Locks, turn: number): Lock<HeldLock>;
  shared?(turn: number): boolean;
  /** How many permits there are; a lock has none. */
  permits?: boolean;
  /** How many independent servers there are; 1 by default. */
  servers?: number;
  /** Permits without a lease are lost when their process dies. */
  immortal?: boolean;
}

const kinds: Record<string, Kind> = {
  simple: { make: (locks) => locks.simple('L') },
  reentrant: { make: (locks) => locks.reentrant('L') },
  fenced: { make: (locks) => locks.fenced('L') },
  fair: { make: (locks) => locks.fair('L') },
  queue: { make: (locks) => locks.queue('L') },
  'non-reentrant': { make: (locks) => locks.nonReentrant('L') },
  'read-write': {
    make: (locks, turn) => locks.readWrite('L')[turn % 3 ? 'read' : 'write'],
    shared: (turn) => turn % 3 !== 0,
  },
  semaphore: { make: (locks) => locks.semaphore('L'), permits: true, immortal: true },
  redlock: { make: (locks) => locks.redlock('L'), servers: 3 },
  'expirable permits': { make: (locks) => locks.expirablePermits('L'), permits: true },
};

/** The beliefs of all holders: a holder believes until its lease has ended by its own count, even if stalled or dead. */
class Beliefs {
  readonly history: LockEvent[] = [];
  readonly #active = new Map<string, HeldLock>();
  #count = 0;

  grant(held: HeldLock, shared: boolean): string {
    for (const [hold, other] of this.#active) if (Date.now() >= other.validUntil) this.end(hold, 'lost');
    const hold = `hold ${++this.#count}`;
    const { owner, fence } = held;
    this.history.push({
      type: 'grant',
      lock: 'L',
      hold,
      owner,
      shared,
      ...defined({ fence }),
    });
    this.#active.set(hold, held);
    return hold;
  }

  end(hold: string, how: 'released' | 'lost'): void {
    if (this.#active.delete(hold)) this.history.push({ type: 'end', lock: 'L', hold, how });
  }

  endAll(): void {
    for (const hold of [...this.#active.keys()]) this.end(hold, 'lost');
  }
}

async function live(lab: Lab, kind: Kind, lives: number): Promise<LockEvent[]> {
  const beliefs = new Beliefs();
  if (kind.permits) {
    await lab.raw.set('L', PERMITS);
    beliefs.history.push({ type: 'total', lock: 'L', units: PERMITS });
  }
  const run = { lab, kind, beliefs, left: lives, generation: 0 };
  const parties = Array.from({ length: PARTIES }, (_, index) => party(run, `party ${index}`));
  const finished = Promise.all(parties);
  const trouble = chaos(run);
  await finished;
  run.left = -1;
  await trouble;
  if (kind.permits) {
    await lab.advance(70_000); // All leases that were left behind have ended by now.
    beliefs.endAll();
    const probe = (await lab.locks('probe')).expirablePermits('L');
    const units = kind.immortal ? Number(await lab.raw.get('L')) : await probe.availablePermits();
    beliefs.history.push({ type: 'left', lock: 'L', units });
  }
  beliefs.endAll();
  return beliefs.history;
}

interface Run {
  readonly lab: Lab;
  readonly kind: Kind;
  readonly beliefs: Beliefs;
  left: number;
  generation: number;
}

/** A process with some tasks; when it dies, another takes its place. */
async function party(run: Run, name: string): Promise<void> {
  while (run.left > 0) {
    const self = `${name}.${++run.generation}`;
    const locks = await run.lab.locks(self, { leaseMs: 1500, requestTimeoutMs: 200, placeMs: 2000 });
    const dies = !run.kind.immortal && run.lab.between(0, 2) === 0;
    const work = Promise.all(Array.from({ length: TASKS }, () => run.lab.as(self, () => task(run, locks))));
    current.set(name, self);
    if (!dies) {
      await work;
      await run.lab.as(self, () => locks.close());
      return;
    }
    await run.lab.advance(run.lab.between(500, 8000));
    run.lab.die(self);
  }
}

/** The current process of each party. */
const current = new Map<string, string>();

async function task(run: Run, locks: Locks): Promise<void> {
  const { lab, kind, beliefs } = run;
  while (run.left > 0) {
    const turn = run.left--;
    const held = await kind.make(locks, turn).acquire({ waitMs: 120_000 }).catch(unlessBroken);
    if (!held) continue;
    const hold = beliefs.grant(held, kind.shared?.(turn) ?? false);
    held.signal.addEventListener('abort', () => beliefs.end(hold, 'lost'));
    // tidy sleeps: the work itself, on the world's clock
    if (turn % 3 === 0) await new Promise((resolve) => setTimeout(resolve, lab.between(1, 40)));
    beliefs.end(hold, 'released');
    await held.release().catch(unlessBroken);
  }
}

function unlessBroken(error: unknown): undefined {
  if (!(error instanceof LockError)) throw error;
}

/** Stalls, silence in either direction and broken connections, one after the other. */
async function chaos(run: Run): Promise<void> {
  const { lab } = run;
  while (run.left > 0) {
    await lab.advance(lab.between(20, 300));
    const name = current.get(`party ${lab.between(0, PARTIES - 1)}`);
    if (name === undefined) continue;
    const node = lab.someNode();
    switch (lab.between(0, lab.sets.length > 1 ? 5 : 4)) {
      case 0:
        await lab.stall(name, lab.between(50, 3000));
        break;
      case 1:
        await silent(lab, lab.replies(name, node));
        break;
      case 2:
        await silent(lab, lab.requests(name, node));
        break;
      case 3:
        lab.pair.world.network.reset(name, node.name);
        break;
      case 5: // One of several servers dies and comes back with its data.
        node.crash({ keep: 'everything' });
        await lab.advance(lab.between(50, 3000));
        node.restart();
        break;
      default:
        await lab.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }
  }
}

async function silent(lab: Lab, lane: { hold(): void; release(): void }): Promise<void> {
  lane.hold();
  await lab.advance(lab.between(50, 1000));
  lane.release();
}

test.each(Object.entries(kinds))('the lives of the %s lock', async (_name, kind) => {
  const share = Math.ceil(LIVES / Object.keys(kinds).length);
  let grants = 0;
  for (let seed = 1; seed * PER_SEED <= share + PER_SEED; seed++) {
    current.clear();
    const history = await inLab(seed, (lab) => live(lab, kind, PER_SEED), kind.servers);
    grants += history.filter(({ type }) => type === 'grant').length;
    expect(check(history), `seed ${seed}`).toEqual([]);
  }
  expect(grants, 'lives that came to a grant').toBeGreaterThan(share / 2);
});
