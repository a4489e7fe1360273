/** Long blocks, whose statements are kept as tables: they do what the same statements do in short blocks, and take little room. */
import { expect, test } from 'vitest';
import { StatementEmitter } from '../../scripting/compiler/statements.ts';
import { fastRealm } from '../../scripting/library/realms.ts';
import { Outline } from '../../scripting/syntax/outline.ts';
import { parse } from '../../scripting/syntax/parser.ts';
import { blockScript, blockSeeds } from './long-blocks.ts';
import { evaluate, evaluateInSlices, FakeHost, withoutSha } from './script-host.ts';

test('statements of a long block do what they do in short blocks, in both forms', () => {
  for (const seed of blockSeeds) {
    const long = blockScript(seed, true);
    const short = evaluate(blockScript(seed, false), new FakeHost());
    expect(withoutSha(evaluate(long, new FakeHost())), long).toBe(withoutSha(short));
    expect(withoutSha(evaluateInSlices(long, new FakeHost(), 3)), long).toBe(withoutSha(short));
  }
});

/** What a script compiles to: the length of the source, and how many constants it has. */
function compiled(source: string): { length: number; constants: number } {
  const emitter = new StatementEmitter('fast', fastRealm(), '@user_script');
  const code = emitter.functionCode(parse(source, 'user_script'));
  return { length: code.length, constants: emitter.constants.length };
}

test.each([
  ['assignments', (i: number) => `x${i} = ${i} `],
  ['calls', (i: number) => `redis.call('SET', 'k${i}', ${i})\n`],
  [
    'functions',
    (i: number) => `t.f${i} = function(a)\n if a > ${i} then return a end\n return f(a) + ${i} end\n`,
  ],
])('the source and the constants of a script do not grow with its %s', (_, statement) => {
  const script = (count: number) =>
    `local t, f = {} ${Array.from({ length: count }, (_, i) => statement(i + 1)).join('')}`;
  const [few, many] = [compiled(script(1000)), compiled(script(20_000))];
  expect(many.constants).toBe(few.constants);
  expect(many.length).toBeLessThan(few.length + 10);
});

test('statements in turns take a place in the source for each shape', () => {
  const turn = (i: number) => `a = ${i} b.x = f(${i}) if a then g(${i}) end `;
  const script = (count: number) =>
    `local a, b, f, g ${Array.from({ length: count }, (_, i) => turn(i + 1)).join('')}`;
  const [few, many] = [compiled(script(200)), compiled(script(5000))];
  expect(many.constants).toBe(few.constants);
  expect(many.length).toBeLessThan(few.length + 10);
});

test('statements that differ in names are told apart by their hashes, so that no search is long', () => {
  const outline = new Outline();
  const statements = parse(
    Array.from({ length: 200 }, (_, i) => `if a${i + 100} then b() end `).join(''),
    'user_script',
  ).body;
  const hashes = new Set<number>();
  for (const statement of statements) {
    outline.trace(statement);
    hashes.add(outline.hash);
  }
  expect(hashes.size).toBe(200);
});

test('a long body of a loop may leave the loop', () => {
  const source = `local n = 0 for i = 1, 9 do ${'n = n + 1 '.repeat(400)} if i == 2 then break end if i == 3 then break end end
    while true do ${'n = n + 1 '.repeat(400)} do break end end return n`;
  expect(evaluate(source, new FakeHost())).toBe(':1200');
  expect(evaluateInSlices(source, new FakeHost())).toBe(':1200');
});
