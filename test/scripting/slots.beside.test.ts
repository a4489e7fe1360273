/** Scripts with more variables and pauses than V8 can count in one function. They take long to write, so this is no quick test. */
import { expect, test } from 'vitest';
import { StatementEmitter } from '../../scripting/compiler/statements.ts';
import { resumableRealm } from '../../scripting/library/realms.ts';
import { parse } from '../../scripting/syntax/parser.ts';
import { evaluateInSlices, FakeHost } from './script-host.ts';

test('variables of blocks do not end the process, however many there are', () => {
  const script = Array.from({ length: 70_000 }, (_, i) => `do local a${i} = n n = f(a${i}, ${i}) end `).join(
    '',
  );
  const source = `local n, f = 0, function(a) return a + 1 end ${script} return n`;
  expect(evaluateInSlices(source, new FakeHost(), 100_000)).toBe(':70000');
});

test('a function with too many registers and pauses for V8 is refused, and does not end the process', () => {
  // Pairs of statements of one shape have a variable of JavaScript for each pair, and each statement may pause.
  const pairs = Array.from({ length: 60_000 }, (_, i) => `a${i}(1) a${i}(2) `).join('');
  const emitter = new StatementEmitter('resumable', resumableRealm(), '@user_script');
  expect(() => emitter.functionCode(parse(pairs, 'user_script'))).toThrow(
    'exceeds the memory limit of one request',
  );
});
