/** What `lostlock explore` shows in a terminal of any size, and where there is none. */
import { expect, test } from 'vitest';
import { isLive, Screen, type ScreenOutput } from '../../cli/explore/screen.ts';
import { FAULTS, PROMISES } from '../../explore/index.ts';
import type { ExploreProgress } from '../../explore/options.ts';
import { tableLines, wrapped } from '../../explore/table.ts';

const progress = (worlds: number): ExploreProgress => ({
  ...{ name: 'a lock with a name that is not short', worlds, of: 5000, findings: 2, perSecond: 210.3 },
  ...{ states: 1234, struck: FAULTS.length, strategy: 'priorities', promises: PROMISES },
  coverage: {
    faults: { ...Object.fromEntries(FAULTS.map((name) => [name, worlds])), busy: 0 },
    calm: 17,
    broken: {
      'client-pause': { 'mutual-exclusion': 12_345, 'no-orphan': 1 },
      'no fault': { 'no-error': 3 },
      'out-of-memory': { 'my own promise': 1 },
    },
  },
});

/** A terminal, as far as the drawing needs one. It counts the lines that scroll away. */
class Terminal implements ScreenOutput {
  readonly isTTY = true;
  columns: number;
  rows: number;
  scrolled = 0;
  lines: string[] = [''];
  #at = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\x1b\[(\d+)A|\x1b\[J|\n|[^\x1b\n]/g)) {
      if (part === '\x1b[J') this.lines.length = this.#at + 1;
      else if (part.endsWith('A') && part.startsWith('\x1b')) {
        const up = Number(part.slice(2, -1));
        expect(up).toBeLessThanOrEqual(this.#at);
        this.#at -= up;
        this.lines[this.#at] = '';
      } else if (part === '\n') this.#next();
      else {
        if ((this.lines[this.#at] ?? '').length === this.columns) this.#next();
        this.lines[this.#at] += part;
      }
    }
  }

  #next(): void {
    if (++this.#at === this.lines.length) this.lines.push('');
    if (this.lines.length <= this.rows) return;
    this.lines.shift();
    this.#at--;
    this.scrolled++;
  }

  /** Makes it narrower: lines that do not fit any more continue in the next one. */
  narrow(columns: number): void {
    const above = this.lines
      .slice(0, this.#at)
      .flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? ['']);
    this.columns = columns;
    this.lines = [...above, ''];
    this.#at = above.length;
  }
}

test.each([
  [200, 50],
  [80, 24],
  [60, 24],
  [40, 12],
  [20, 6],
  [9, 3],
])('in %i x %i characters nothing scrolls, and nothing stays behind', (columns, rows) => {
  const terminal = new Terminal(columns, rows);
  const screen = new Screen(terminal, false, true);
  for (let worlds = 1; worlds < 2000; worlds *= 3) screen.draw(progress(worlds));
  expect(terminal.scrolled).toBe(0);
  expect(terminal.lines.join('\n')).toMatch(/729/);
  expect(terminal.lines.join('\n')).not.toMatch(/\b243\b/);
  screen.clear();
  expect([terminal.scrolled, terminal.lines]).toEqual([0, ['']]);
});

test('a terminal that becomes narrower meanwhile keeps nothing of the drawing before', () => {
  const terminal = new Terminal(120, 60);
  const screen = new Screen(terminal, false, true);
  screen.draw(progress(1));
  terminal.narrow(50);
  screen.draw(progress(2));
  expect(terminal.lines.filter((line) => /worlds,/.test(line))).toEqual([
    expect.stringMatching(/^2 of 5000 worlds, /),
  ]);
  screen.clear();
  expect(terminal.lines).toEqual(['']);
});

test('the table has a row for each fault and a column for each promise, zero included', () => {
  const { coverage, promises } = progress(50);
  const faults = { 'client-pause': 50, delay: 7, busy: 0 };
  const lines = tableLines({ ...coverage, faults }, ['mutual-exclusion', 'fencing', 'no-orphan'], 100);
  expect(lines).toEqual([
    '                        mutual-              no-',
    'fault         worlds  exclusion  fencing  orphan',
    'no fault          17          .        .       .',
    'client-pause      50      12345        .       1',
    'delay              7          .        .       .',
    'busy               0',
  ]);
  const few = tableLines(coverage, promises.slice(0, 6), 100, 6);
  expect(few).toHaveLength(6);
  expect(few.join('\n')).toMatch(/no fault .*\nclient-pause .*\nout-of-memory .*\nand \d\d more$/);
});

test('no line of the table is longer than it may be', () => {
  const { coverage, promises } = progress(50);
  for (let width = 5; width < 130; width++)
    for (const line of [
      ...tableLines(coverage, promises, width),
      ...wrapped('a sentence, and averyveryverylongword', width, '  '),
    ])
      expect(line.length).toBeLessThanOrEqual(width);
});

test('without a terminal there are no controls, and lines only when they are asked for', () => {
  let text = '';
  const out = { write: (part: string) => (text += part) };
  new Screen(out, false).show(progress(1));
  expect(text).toBe('');
  new Screen(out, true).show(progress(1));
  expect(text).toMatch(/^a lock .*\n$/);
  expect(text).not.toContain('\x1b');
  expect([isLive({ ...out, isTTY: true }, {}), isLive({ ...out, isTTY: true }, { CI: 'true' })]).toEqual([
    true,
    false,
  ]);
  expect(isLive({ ...out, isTTY: true }, { TERM: 'dumb' })).toBe(false);
});
