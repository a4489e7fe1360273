/** The registry of kinds of lock: every list has every kind, or the registry says why not. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createLocks, type Locks } from '../../../locks/index.ts';
import {
  formsIn,
  KIND_LISTS,
  type KindEntry,
  type KindList,
  kindNames,
  kinds,
  kindsIn,
  type LockKind,
  titlesOf,
} from '../../../locks/kinds/index.ts';
import { withKinds } from '../../../tools/docs/readme-kinds.ts';
import { KINDS } from '../campaign/draw.ts';
import { wrongWith } from './lists.ts';

const lists = Object.entries(KIND_LISTS) as [KindList, string][];
const nowhere = { call: async () => null, sendCommand: async () => null, openSubscriber: () => null };

function locksOfNothing(): Locks {
  return createLocks(nowhere as never);
}

test('every method of Locks that makes a lock has an entry', () => {
  const others = ['constructor', 'run', 'on', 'off', 'close'];
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(locksOfNothing()));
  expect(methods.filter((name) => !others.includes(name)).sort()).toEqual([...kindNames].sort());
  const { simple: _simple, ...rest } = kinds;
  // @ts-expect-error: a kind without an entry does not compile.
  const incomplete: Record<LockKind, KindEntry> = rest;
  expect(Object.keys(incomplete)).toHaveLength(kindNames.length - 1);
});

test.each(lists)('the list "%s" has every kind that the registry does not leave out', (list, file) => {
  expect(wrongWith(list, readFileSync(file, 'utf8'))).toEqual([]);
});

test('the campaign draws every kind, and a fenced lock with either fence', () => {
  expect(KINDS.filter((kind) => kind !== 'fenced by the clock')).toEqual(titlesOf(kindNames));
});

test('README.md lists every kind', () => {
  const page = readFileSync('README.md', 'utf8');
  expect(page === withKinds(page), 'README.md is out of step: npm run docs').toBe(true);
});

test('the reasons are sentences, and the test files that they name exist', () => {
  const reasons = kindNames.flatMap((kind) => {
    const { notIn, forms } = kinds[kind];
    return [notIn, ...Object.values(forms).map((form) => form.notIn ?? {})].flatMap((each) =>
      Object.values(each),
    );
  });
  expect(reasons.length).toBeGreaterThan(20);
  for (const reason of reasons) {
    expect(reason.split(' ').length, reason).toBeGreaterThan(2);
    for (const [path] of reason.matchAll(/test\/[\w./-]+\.ts/g)) expect(existsSync(path), reason).toBe(true);
  }
});

test('every form is made under the name that it is asked for', () => {
  const locks = locksOfNothing();
  const made = formsIn('releases').filter(({ kind }) => kind !== 'session' && kind !== 'multi');
  expect(made.map(({ make }) => make(locks, 'L').name)).toEqual(made.map(() => 'L'));
  locks.close();
});

describe('planted', () => {
  test('a new kind is in every list that goes by the registry, and is missed in every list that is written by hand', () => {
    const names = [...kindNames, 'unheardOf'];
    const missed = lists.flatMap(([list, file]) =>
      wrongWith(list, readFileSync(file, 'utf8'), names, (kind) =>
        kind === 'unheardOf' ? undefined : kinds[kind as LockKind].notIn[list],
      ),
    );
    const cure = (file: string, list: string) =>
      `the kind 'unheardOf' is not in ${file}: add it there, or say in locks/kinds/index.ts, notIn['${list}'], why not`;
    expect(missed).toEqual([
      cure('test/clients/redisson/run.ts', 'redisson'),
      cure('bench/locks.ts', 'bench'),
      cure('playground/cases/our-locks.ts', 'playground'),
      cure('docs/which-lock.md', 'which lock'),
      cure('docs/using-locks.md', 'using locks'),
    ]);
  });

  test('a list that the registry leaves a kind out of, and that has it, is found', () => {
    expect(wrongWith('which lock', '`locks.latch(name)`', ['latch'])).toEqual([
      "the kind 'latch' is in docs/which-lock.md, but locks/kinds/index.ts says that it is not: it excludes nobody",
    ]);
  });

  test('a list of kinds that is kept by hand again is found', () => {
    expect(wrongWith('odd clients', "const kinds = ['simple'];")).toEqual([
      "test/locks/odd-uses.realtime.beside.test.ts keeps a list of kinds by hand: iterate formsIn('odd clients')",
    ]);
  });
});

test('a list has the kinds and the forms that are not left out, in the order of the registry', () => {
  const [first, ...rest] = kindNames.filter((kind) => kinds[kind].notIn.redisson === undefined);
  expect(kindsIn('redisson')).toEqual([first, ...rest]);
  const forms = formsIn('re-entry').map(({ name }) => name);
  expect(forms).toEqual(expect.arrayContaining(['reentrant', 'fenced', 'fair']));
  expect(forms).not.toContain('simple'); // The kind is left out,
  expect(forms).not.toContain('write'); // and here only the form.
});
