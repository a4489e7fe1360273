/** The index of a database answers as a Map does, whatever is added and removed, and at any size. */
import { expect, test } from 'vitest';
import type { Entry } from '../../keyspace/entry.ts';
import { hashOf } from '../../keyspace/key-hash.ts';
import { KeyIndex } from '../../keyspace/key-index.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { slotOf } from '../../protocol/slot.ts';
import { TestHost } from '../support/targets.ts';

/** What an entry must keep from the moment when its key was added. */
const told = (entry: Entry | undefined): unknown =>
  entry && [entry.key, entry.held, entry.serial, entry.usedAt, entry.deadline, entry.footprint, entry.madeAs];

/** An index beside a Map, which gets the same calls. */
class Beside {
  readonly index = new KeyIndex();
  readonly map = new Map<Bytes, unknown>();
  #serial = 0;

  add(key: Bytes): void {
    const serial = ++this.#serial;
    const entry = this.index.add(key, `value ${serial}`, serial, serial * 1e9);
    if (serial % 2 === 0) entry.deadline = serial;
    if (serial % 3 === 0) entry.footprint = 2 * serial;
    if (serial % 5 === 0) entry.madeAs = 'raw';
    this.map.set(key, told(entry));
  }

  delete(key: Bytes): void {
    expect(this.index.delete(key)).toBe(this.map.delete(key));
  }

  clear(): void {
    this.index.clear();
    this.map.clear();
  }

  /** Compares the entries of these keys. */
  look(keys: readonly Bytes[]): void {
    expect(this.index.size).toBe(this.map.size);
    expect(keys.map((key) => told(this.index.get(key)))).toEqual(keys.map((key) => this.map.get(key)));
    expect(keys.filter((key) => this.index.has(key))).toEqual(keys.filter((key) => this.map.has(key)));
  }

  /** Compares everything, also the order. */
  compare(keys: readonly Bytes[]): void {
    this.look(keys);
    expect([...this.index.keys()]).toEqual([...this.map.keys()]);
    expect([...this.index].map(([, entry]) => told(entry))).toEqual([...this.map.values()]);
    const isOdd = (key: Bytes): boolean => /[13579]$/.test(key);
    const odd = [...this.index.matching(isOdd)].map(({ key }) => key);
    expect(odd).toEqual([...this.map.keys()].filter(isOdd));
    const bySerial = [...this.index.unordered()].sort((one, other) => one.serial - other.serial);
    expect(bySerial.map(told)).toEqual([...this.map.values()]);
  }

  /** Removes or adds a random key. @param share the probability of adding */
  change(names: readonly Bytes[], share: number, host: TestHost): void {
    const key = names[Math.floor(host.random() * names.length)]!;
    if (host.random() > share) this.delete(key);
    else if (!this.map.has(key)) this.add(key);
  }
}

test('adding and removing keys at random gives what a Map gives, in the same order', () => {
  const host = new TestHost();
  const both = new Beside();
  const names = Array.from({ length: 3000 }, (_, i) => `lock:${i}`);
  for (let phase = 0; phase < 12; phase++) {
    // The number of keys grows and shrinks in turns.
    const share = phase % 2 === 0 ? 0.9 : 0.15;
    for (let i = 0; i < 4000; i++) {
      both.change(names, share, host);
    }
    both.compare(names);
  }
  both.clear();
  both.compare(names);
  both.add('a');
  both.compare(['a', 'b']);
});

test('keys are found, added and removed while the slots move to a larger table', () => {
  const both = new Beside();
  const names = Array.from({ length: 13_000 }, (_, i) => `{user:${i}}:lock`);
  for (const [i, key] of names.entries()) {
    both.add(key);
    // 6145 and 12289 keys are too many for 8192 and 16384 slots. Then most slots are still in the old table.
    if (i < 6144 || (i > 6170 && i < 12_288) || i > 12_340) continue;
    both.delete(names[i - 6000]!);
    both.delete(names[i - 5]!);
    both.delete('none');
    if (i % 3 === 0) both.add(names[i - 5]!);
    both.look(names.slice(i - 20, i));
    if (i % 8 === 0) both.compare(names);
  }
  both.compare(names);
  for (const key of names) both.delete(key);
  both.compare(names);
});

test('an index of few keys that has had many still has them, in order', () => {
  const both = new Beside();
  const names = Array.from({ length: 5000 }, (_, i) => `k${i}`);
  for (const key of names) both.add(key);
  for (const key of names.slice(0, 4990)) both.delete(key);
  both.compare(names);
  both.add('k1');
  both.add('k2');
  both.compare(names);
});

test('the keys of a cluster slot are those that a walk finds, the newest first', () => {
  const host = new TestHost();
  const both = new Beside();
  const names = Array.from({ length: 3000 }, (_, i) => `{${i % 7}}${i}`);
  const compareSlots = (): void => {
    const walked = new Map<number, Bytes[]>();
    for (const key of [...both.map.keys()].reverse()) {
      walked.set(slotOf(key), [...(walked.get(slotOf(key)) ?? []), key]);
    }
    for (const slot of names.slice(0, 7).map(slotOf)) {
      const keys = walked.get(slot) ?? [];
      expect(both.index.keysOfSlot(slot)).toEqual(keys);
      expect(both.index.keysOfSlot(slot, 3)).toEqual(keys.slice(0, 3));
      expect(both.index.countsOfSlots()[slot]).toBe(keys.length);
    }
  };
  for (let phase = 0; phase < 12; phase++) {
    const share = phase % 2 === 0 ? 0.9 : 0.15;
    for (let i = 0; i < 4000; i++) {
      both.change(names, share, host);
      if (i % 500 === 0) compareSlots();
    }
    if (phase === 6) both.clear();
    if (phase === 9) for (const key of names.slice(10)) both.delete(key);
    compareSlots();
  }
});

test('keys may be removed while others are visited', () => {
  const both = new Beside();
  for (let i = 0; i < 2000; i++) both.add(`k${i}`);
  const seen: Bytes[] = [];
  for (const key of both.index.keys()) {
    seen.push(key);
    both.delete(key);
    both.delete(`k${Number(key.slice(1)) + 1}`);
  }
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => `k${2 * i}`));
  both.compare(['k0']);
});

test('keys that were removed and added again are the newest, even with serial numbers near the largest', () => {
  const index = new KeyIndex();
  const first = Number.MAX_SAFE_INTEGER - 10;
  for (const [i, key] of ['a', 'b', 'c'].entries()) index.add(key, '', first + i, 0);
  index.delete('a');
  index.add('d', '', first + 4, 0);
  index.delete('b');
  index.add('a', '', first + 5, 0);
  expect([...index.keys()]).toEqual(['c', 'd', 'a']);
});

test('names that differ in one place only do not crowd together', () => {
  const families = [
    (i: number) => `key:${String(i).padStart(12, '0')}`,
    (i: number) => `{user:${i}}:lock:resource-of-a-long-name`,
    (i: number) => `${i}:lock`,
    (i: number) => `lock:${(i * 2 ** 20).toString(16)}`,
    (i: number) => `l:${String.fromCharCode(i & 255, (i >> 8) & 255)}:${'x'.repeat(40)}`,
  ];
  const slots = 2 ** 17;
  for (const name of families) {
    const crowd = new Uint32Array(slots);
    const hashes = new Set<number>();
    for (let i = 0; i < 65_536; i++) {
      const hash = hashOf(name(i));
      hashes.add(hash);
      crowd[hash & (slots - 1)]!++;
    }
    expect(hashes.size).toBeGreaterThan(65_500);
    expect(crowd.reduce((most, count) => Math.max(most, count))).toBeLessThan(12);
  }
});
