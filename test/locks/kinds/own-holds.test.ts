/** Several holds of one owner, taken, released and left to end in every order. */

import { expect, test } from 'vitest';
import { defined } from '../../../base/defined.ts';
import type { HeldLock, Locks } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { sampleOf } from '../../support/long.ts';
import { inLab, type Lab } from '../failures/lab.ts';

const SEEDS = sampleOf(400, 6);
const STEPS = 60;
const DEFAULT_MS = 900;
/** A lease lasts this much longer on the server than its holder believes: the drift allowance and the latency. */
const SLACK_MS = 60;

interface Entry {
  readonly held: HeldLock;
  readonly side: 'read' | 'write';
  readonly leaseMs: number;
}

const isHeld = ({ held }: Entry): boolean => {
  try {
    held.assertHeld();
    return true;
  } catch {
    return false;
  }
};

/** One owner with many holds, and two other clients that try to get in. */
class Owner {
  readonly entries: Entry[] = [];
  readonly #lab: Lab;
  readonly #seed: number;
  readonly #mine: Locks;
  readonly #others: Locks;
  /** When the last hold ended, as far as is known. */
  #end = 0;

  constructor(lab: Lab, seed: number, mine: Locks, others: Locks) {
    this.#lab = lab;
    this.#seed = seed;
    this.#mine = mine;
    this.#others = others;
  }

  /** Takes another hold. A reader may not start to write, so it takes another read hold. */
  async enter(): Promise<void> {
    const live = this.entries.filter(isHeld);
    const mayWrite = live.length === 0 || live.some(({ side }) => side === 'write');
    const side = mayWrite && this.#lab.between(0, 2) === 0 ? 'write' : 'read';
    const leases = [undefined, undefined, this.#lab.between(20, 400), this.#lab.between(1000, 3000)];
    const leaseMs = leases[this.#lab.between(0, 3)];
    const options = { owner: 'me', ...defined({ leaseMs }) };
    const held = await this.#mine.readWrite('L')[side].tryAcquire(options);
    if (held) this.entries.push({ held, side, leaseMs: leaseMs ?? DEFAULT_MS });
  }

  async leave(): Promise<void> {
    const [entry] = this.entries.splice(this.#lab.between(0, this.entries.length - 1), 1);
    if (!entry) return;
    const held = isHeld(entry);
    const { side, leaseMs } = entry;
    // Taking and releasing the write lock again renews the lease, as in Redisson.
    if (held && side === 'write' && this.entries.some((other) => other.side === 'write' && isHeld(other))) {
      this.#end = Math.max(this.#end, Date.now() + leaseMs);
    }
    const released = await entry.held.release().then(
      () => true,
      () => false,
    );
    expect(released, 'a hold that was there is given back').toBe(held);
    this.#end = Math.max(this.#end, held ? Date.now() : entry.held.validUntil);
  }

  async extend(): Promise<void> {
    const entry = this.entries[this.#lab.between(0, Math.max(0, this.entries.length - 1))];
    if (entry === undefined || !isHeld(entry)) return;
    // The lease may end while the request is under way.
    await entry.held.extend(this.#lab.between(100, 2000)).catch((error: unknown) => {
      if (isHeld(entry)) throw error;
    });
  }

  /** No other client gets in while a hold is believed; soon after the last one has ended, one does. */
  async check(): Promise<void> {
    const before = this.entries.filter(isHeld);
    const [writer, reader] = [
      await this.#others.readWrite('L').write.tryAcquire(),
      await this.#others.readWrite('L').read.tryAcquire(),
    ];
    const still = before.filter(isHeld);
    if (still.length > 0) expect(writer, `seed ${this.#seed}: a writer beside a hold`).toBeNull();
    if (still.some(({ side }) => side === 'write'))
      expect(reader, `seed ${this.#seed}: a reader beside a writer`).toBeNull();
    const ends = this.entries.map(({ held }) => Math.min(held.validUntil, Date.now()));
    this.#end = Math.max(this.#end, ...ends);
    if (Date.now() - this.#end > SLACK_MS)
      expect(writer, `seed ${this.#seed}: a writer where nobody is`).not.toBeNull();
    await writer?.release();
    await reader?.release();
  }
}

test('in every order of releases, a read-write lock lasts exactly as long as its longest live hold', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await inLab(seed, async (lab) => {
      const owner = new Owner(lab, seed, await lab.locks('A', { leaseMs: DEFAULT_MS }), await lab.locks('B'));
      for (let step = 0; step < STEPS; step++) {
        const what = lab.between(0, 9);
        if (what < 4) await owner.enter();
        else if (what < 7) await owner.leave();
        else if (what < 8) await owner.extend();
        await lab.advance([0, 10, 150, 700, 1500][lab.between(0, 4)]!);
        await owner.check();
      }
      for (const { held } of owner.entries) await held.release().catch(() => {});
      await lab.advance(100);
      const left = (await lab.raw.keys('*')).filter((key) => !key.includes('requests'));
      expect(left, `seed ${seed}: keys that are left`).toEqual([]);
    });
  }
});

test('a hold with a short lease ends by itself, and the renewed hold stays', () =>
  inLab(7, async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 900 }), await lab.locks('B')];
    const { read } = a.readWrite('L');
    const short = await read.acquire({ owner: 'me', leaseMs: 200 });
    const long = await read.acquire({ owner: 'me' });
    await lab.advance(5000);
    expect(() => short.assertHeld()).toThrow('lease ended');
    long.assertHeld();
    expect(await b.readWrite('L').write.tryAcquire()).toBeNull();
    await long.release();
    expect(await b.readWrite('L').write.tryAcquire()).not.toBeNull();
  }));

test('a writer that keeps a read hold cannot write beyond its write lease', () =>
  inLab(7, async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 900 }), await lab.locks('B')];
    const writing = await a.readWrite('L').write.acquire({ owner: 'me', leaseMs: 200 });
    const reading = await a.readWrite('L').read.acquire({ owner: 'me' });
    await lab.advance(250);
    expect(() => writing.assertHeld()).toThrow('lease ended');
    expect(await b.readWrite('L').read.tryAcquire({ waitMs: 100 })).not.toBeNull();
    await lab.advance(5000);
    reading.assertHeld();
    expect(await b.readWrite('L').write.tryAcquire()).toBeNull();
  }));

test.each(formsIn('holds of one owner'))(
  'the $name lock is renewed until the last hold that asked for it is released, and then ends by itself',
  ({ make }) =>
    inLab(7, async (lab) => {
      const [a, b] = [await lab.locks('A', { leaseMs: 900 }), await lab.locks('B')];
      const outer = await make(a, 'L').acquire({ owner: 'me', leaseMs: 300 });
      const inner = [
        await make(a, 'L').acquire({ owner: 'me' }),
        await make(a, 'L').acquire({ owner: 'me' }),
      ];
      await lab.advance(5000);
      for (const held of inner) {
        await lab.advance(5000);
        outer.assertHeld();
        expect(await make(b, 'L').tryAcquire()).toBeNull();
        await held.release();
      }
      outer.assertHeld(); // The lease from the other holds stays: leases never shrink.
      await lab.advance(1000);
      expect(() => outer.assertHeld()).toThrow('lease ended');
      expect(await make(b, 'L').tryAcquire()).not.toBeNull();
    }),
);
