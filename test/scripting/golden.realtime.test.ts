/** Each snippet of test/golden/lua.golden gives redis-server's reply in both forms of execution. */
import { expect, test } from 'vitest';
import { luaSnippets } from './lua-golden.ts';
import { evaluate, evaluateInSlices, FakeHost } from './script-host.ts';

const snippets = luaSnippets();
const titles = [...new Set(snippets.map((snippet) => snippet.title))];

function written(run: (source: string, host: FakeHost) => string): Map<string, string[]> {
  const host = new FakeHost();
  const lines = new Map<string, string[]>();
  for (const { title, line, source } of snippets) {
    const list = lines.get(title) ?? [];
    list.push(`${line}\n   => ${run(source, host)}`);
    lines.set(title, list);
  }
  return lines;
}

const whole = written(evaluate);
const sliced = written(evaluateInSlices);

for (const title of titles) {
  const expected = snippets
    .filter((snippet) => snippet.title === title)
    .map(({ line, reply }) => `${line}\n   => ${reply}`);
  test(`${title}: ${expected.length} snippets answer as redis-server does`, () => {
    expect(whole.get(title)).toEqual(expected);
  });
  test(`${title}: they answer alike when they are interrupted every few steps`, () => {
    expect(sliced.get(title)).toEqual(expected);
  });
}
