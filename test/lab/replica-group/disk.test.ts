/** What a lab disk keeps of its files through crashes of every kind. */
import { expect, test } from 'vitest';
import { type Keep, VirtualDisk } from '../../../lab/replica-group/disk.ts';

/** A disk with a log of which half was synced, a rewritten file, and one never synced. */
function written(): VirtualDisk {
  const disk = new VirtualDisk();
  disk.append('log', 'abc');
  disk.sync('log');
  disk.append('log', 'def');
  disk.write('dump', 'old');
  disk.sync('dump');
  disk.write('dump', 'new and longer');
  disk.append('fresh', 'xyz');
  return disk;
}

function after(keep: Keep): Record<string, string | undefined> {
  const disk = written();
  disk.crash(keep);
  return Object.fromEntries(disk.names().map((name) => [name, disk.read(name)]));
}

test('a crash keeps what the option says', () => {
  expect(after('nothing')).toEqual({});
  expect(after('everything')).toEqual({ dump: 'new and longer', fresh: 'xyz', log: 'abcdef' });
  expect(after('synced')).toEqual({ dump: 'old', log: 'abc' });
});

test('a crash may have written part of what was not synced, but never less than what was', () => {
  expect(after({ bytes: 0 })).toEqual({ dump: 'old', log: 'abc' });
  expect(after({ bytes: 2 })).toEqual({ dump: 'old', fresh: 'xy', log: 'abc' });
  expect(after({ bytes: 4 })).toEqual({ dump: 'old', fresh: 'xyz', log: 'abcd' });
  expect(after({ bytes: 100 })).toEqual({ dump: 'old', fresh: 'xyz', log: 'abcdef' });
});

test('what survived counts as synced', () => {
  const disk = written();
  disk.crash('everything');
  disk.crash('synced');
  expect(disk.read('log')).toBe('abcdef');
  expect(disk.durable('log')).toBe(6);
});

test('removed files are gone, and missing files are undefined', () => {
  const disk = written();
  disk.remove('log');
  disk.crash('everything');
  expect(disk.read('log')).toBeUndefined();
  disk.sync('log');
  expect(disk.durable('log')).toBe(0);
  expect(written().syncs.get('log')).toBe(1);
});

test('a log that grows by many small pieces has all of them, in order, and what was synced among them', () => {
  const disk = new VirtualDisk();
  const pieces = Array.from({ length: 3000 }, (_, i) => `\xff${i},`);
  for (const [i, piece] of pieces.entries()) {
    disk.append('log', piece);
    if (i === 1999) disk.sync('log');
  }
  expect(disk.read('log')).toBe(pieces.join(''));
  expect(disk.size('log')).toBe(pieces.join('').length);
  disk.crash('synced');
  expect(disk.read('log')).toBe(pieces.slice(0, 2000).join(''));
  disk.append('log', 'more');
  expect(disk.read('log')).toBe(`${pieces.slice(0, 2000).join('')}more`);
});
