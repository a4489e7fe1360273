/** What the command does about TypeScript that Node cannot run: tsx loads it where the project has it, else the message says so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aboutTypeScript, NeedsTsx } from '../../cli/explore/typescript.ts';

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** What Node says of a file of a CommonJS project, of imports without endings, and of syntax that it cannot strip. */
const failures: [what: string, error: Error][] = [
  ['an ending', failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".ts"')],
  ['an import without an ending', failure('ERR_MODULE_NOT_FOUND', "Cannot find module '/p/lock'")],
  [
    'a parameter property',
    failure('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'parameter property is not supported'),
  ],
  ['an import in CommonJS', new SyntaxError('Cannot use import statement outside a module')],
  ['a require in an ES module', new ReferenceError('require is not defined in ES module scope')],
];

test.each(failures)('%s: tsx is started where the project has it', (_what, error) => {
  const answer = aboutTypeScript('test/x.explore.ts', error);
  expect(answer).toBeInstanceOf(NeedsTsx);
  expect((answer as NeedsTsx).flags[1]).toMatch(/^file:.*node_modules\/tsx\//);
});

test.each(failures)('%s: without tsx, the message says what to install', (_what, error) => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-no-tsx-'));
  try {
    expect(aboutTypeScript(join(folder, 'x.ts'), error)?.message).toMatch(
      /^Node v\d.* cannot run .*x\.ts as it is \(.*\): install tsx, .*: npm install --save-dev tsx$/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an error of the file itself, and a file of JavaScript, are no matter of TypeScript', () => {
  expect(aboutTypeScript('x.ts', new Error('the file threw this'))).toBeUndefined();
  expect(aboutTypeScript('x.mjs', failure('ERR_MODULE_NOT_FOUND', 'Cannot find module'))).toBeUndefined();
});
