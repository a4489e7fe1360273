/** `npx lostlock timeline`: the page of a trace, and what it refuses. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { timelineCommand } from '../../cli/timeline.ts';
import { startLab } from '../../lab/remote/serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-timeline-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command, and returns its status with what it printed. */
async function run(...argv: string[]): Promise<[status: number, printed: string]> {
  let printed = '';
  const keep = (text: unknown): boolean => (printed += String(text)) !== '';
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(keep),
  );
  const status = await timelineCommand(argv);
  for (const spy of spies) spy.mockRestore();
  return [status, printed];
}

test('a trace becomes a page, and the traces of several files one page', async () => {
  await using lab = await startLab();
  const trace = JSON.stringify({
    format: 'lostlock-timeline',
    version: 1,
    runs: [lab.pair.timelineData({ title: 'A run in Go' })],
  });
  const [one, two] = [join(folder, 'one.json'), join(folder, 'two.json')];
  for (const file of [one, two]) writeFileSync(file, trace);
  const page = join(folder, 'one.html');
  expect(await run(one)).toEqual([0, `Written to ${page}\n`]);
  expect(readFileSync(page, 'utf8')).toContain('<title>A run in Go');
  expect(await run(one, two, '--out', page)).toEqual([0, `Written to ${page}\n`]);
  expect(readFileSync(page, 'utf8').match(/A run in Go/g)?.length).toBeGreaterThan(3);
});

test('what is no trace is refused by name, with status 2', async () => {
  const file = join(folder, 'wrong.json');
  for (const [data, message] of [
    ['{', 'wrong.json: '],
    ['null', 'not a trace'],
    ['{"format":"lostlock-timeline","version":2,"runs":[]}', 'its version is 2'],
    ['{"format":"lostlock-timeline","version":1,"runs":[{}]}', 'run 1 has no list lanes'],
  ] as const) {
    writeFileSync(file, data);
    const [status, printed] = await run(file);
    expect([status, printed]).toEqual([2, expect.stringContaining(message)]);
    expect(printed.trim().split('\n')).toHaveLength(1);
  }
  expect(await run(file, '--out', 'a.svg')).toEqual([2, expect.stringContaining("ends in '.html'")]);
  expect(await run()).toEqual([2, expect.stringContaining('timeline needs a file')]);
});
