/** Holds every source file to the repository's rules, and proves of each rule that it can fail. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defineCommands, defineContainer } from '../server/commands/define.ts';
import { allCommands } from '../server/commands/index.ts';
import type { Command } from '../server/table/command.ts';
import { commandsPage } from '../tools/docs/commands-page.ts';
import { advice } from './tidy/advice.ts';
import { untestedCommands } from './tidy/command-coverage.ts';
import { rules } from './tidy/rules.ts';
import { readSources, sourceFile } from './tidy/source-text.ts';
import { treeRules } from './tidy/tree.ts';
import { describeViolation, violations } from './tidy/violations.ts';

const sources = readSources(process.cwd());

test('every source file keeps the rules', () => {
  expect(sources.length).toBeGreaterThan(5);
  expect(violations(sources).map(describeViolation)).toEqual([]);
});

test('sizes are advice, which is printed', () => {
  const tips = advice(sources);
  if (tips.length > 0) console.info(`Advice, which fails no test:\n${tips.join('\n')}`);
  const big = sourceFile('lab/big.ts', 'x;\n'.repeat(401));
  const many = Array.from({ length: 21 }, (_, i) => sourceFile(`page/${i}.ts`, ''));
  expect(advice([big, ...many]).map((tip) => tip.split(':')[0])).toEqual(['lab/big.ts', 'page/']);
});

test('a sleep in virtual time is no violation', () => {
  const broken = (path: string) =>
    violations([sourceFile(path, `${opened}await sleep(50);`)]).map((v) => v.rule);
  expect(broken('test/explore/a.test.ts')).toEqual([]);
  expect(broken('test/explore/a.realtime.test.ts')).toEqual(['sleeps']);
});

test('a retired word is found in the name of a file too', () => {
  const found = violations([sourceFile('lab/embed-room.ts', opened)]).map(describeViolation);
  expect(found).toEqual([expect.stringContaining("'embed' is retired; say start")]);
});

const opened = '/** A file that was planted to prove a rule. */\n';

/** What each rule must find, and a neighbour that it must leave alone. */
const planted: readonly [rule: string, path: string, bad: string, good: string][] = [
  ['layers', 'protocol/a.ts', "import { x } from '../keyspace/a.ts';", "import { x } from './b.ts';"],
  [
    'layers',
    'keyspace/a.ts',
    "import type { x } from '../scripting/a.ts';",
    "import { x } from '../protocol/a.ts';",
  ],
  [
    'layers',
    'scripting/library/a.ts',
    "export { x } from '../../keyspace/a.ts';",
    "import { x } from '../a.ts';",
  ],
  [
    'layers',
    'server/commands/a.ts',
    "const x = import('../../lab/a.ts');",
    "import { x } from '../execute.ts';",
  ],
  ['layers', 'locks/a.ts', "import { x } from '../protocol/a.ts';", "import { x } from '../base/a.ts';"],
  ['layers', 'base/a.ts', "import { x } from '../protocol/a.ts';", "import { x } from 'node:util';"],
  ['layers', 'lab/a.ts', "import { x } from '../index.ts';", "import { x } from '../locks/a.ts';"],
  ['layers', 'index.ts', "import { x } from './test/support/a.ts';", "import { x } from './lab/a.ts';"],
  [
    'layers',
    'server/a.ts',
    "import { connect } from 'node:net';",
    "import { createHash } from 'node:crypto';",
  ],
  ['doors', 'server/a.ts', 'const now = Date.now();', "const text = 'Date.now()'; // Not Date.now()."],
  [
    'doors',
    'keyspace/a.ts',
    'const now = performance.now();',
    'const performance: number = row.performance;',
  ],
  ['doors', 'server/a.ts', 'setTimeout(task, 5);', 'host.clock.at(5, task);'],
  ['doors', 'server/a.ts', 'setImmediate(task);', 'host.clock.soon(task);'],
  ['doors', 'server/a.ts', 'const x = Math.random();', 'const x = host.random();'],
  ['doors', 'server/a.ts', 'const x = randomBytes(20);', "const x = createHash('sha1');"],
  ['doors', 'server/a.ts', 'const x = process.pid;', 'const x = info.process;'],
  ['doors', 'server/a.ts', 'console.log(1);', 'log(1);'],
  ['doors', 'server/a.ts', 'async function f() {}', 'function f() {}'],
  ['doors', 'server/a.ts', 'const p: Promise<void> = f();', "const flag = 'async';"],
  ['worlds', 'lab/a.ts', 'const x = Date.now();', 'const x = new Date(world.now);'],
  ['worlds', 'lab/a.ts', 'const x = Math.random();', 'const x = random.next();'],
  ['worlds', 'lab/a.ts', 'const x = randomUUID();', 'const x = random.hex(16);'],
  ['resets', 'lab/a.ts', 'socket.resetAndDestroy();', 'resetSocket(socket);'],
  ['bytes', 'server/a.ts', 'const x = name.toUpperCase();', 'const x = asciiUpper(name);'],
  ['bytes', 'protocol/a.ts', 'const x = name.toLowerCase();', 'const x = asciiLower(name);'],
  ['bytes', 'keyspace/a.ts', 'const x = name.trim();', 'const x = wheel.trimmed;'],
  ['bytes', 'scripting/a.ts', 'const x = Number(text);', 'const x = Number.isInteger(1);'],
  ['bytes', 'scripting/a.ts', 'const x = parseInt(text, 10);', 'const x = parseInteger(text);'],
  ['arguments', 'server/commands/a.ts', 'const name = argv[1]!;', 'const name = argv[1];'],
  ['arguments', 'server/a.ts', 'const name = words[i] as Bytes;', 'const name: Bytes = wordAt(words, i);'],
  [
    'arguments',
    'server/commands/a.ts',
    'const [, name] = argv as [Bytes, Bytes];',
    'const name = argv[1]!; // tidy arguments: the table proves that it is there',
  ],
  [
    'getters',
    'server/a.ts',
    'class A {\n  #n = 0;\n  get n(): number {\n    if (x) return 1;\n    this.#n = 2;\n    return 2;\n  }\n}',
    'class A {\n  get n(): number {\n    return (this.#n ??= 2);\n  }\n\n  m(): void {\n    this.#n = 1;\n  }\n}',
  ],
  [
    'dialects',
    'server/commands/a.ts',
    "if (server.dialect.server.version >= '7.2.0') f();",
    "if (server.dialect.waitInScript === 'error') f();",
  ],
  ['dialects', 'server/a.ts', 'if (existsIn(since, dialect)) f();', "vocabulary.knows('set', 'IFEQ');"],
  ['dialects', 'lab/a.ts', "if (name === 'redis-8.2') f();", "start({ dialect: 'redis-8.2' });"],
  ['dialects', 'start/a.ts', "switch (x) { case 'valkey-8.1': }", "// Was once case 'valkey-8.1'."],
  ['any', 'lab/a.ts', 'const x: any = 1;', 'const x = Promise.any(list); // any'],
  ['default-exports', 'lab/a.ts', 'export default 1;', 'export const x = 1;'],
  ['focused-tests', 'test/a.test.ts', "test.only('x', f);", "test('only', f);"],
  ['focused-tests', 'test/a.test.ts', "describe.skip('x', f);", 'skip(reason);'],
  ['focused-tests', 'test/a.test.ts', 'context.skip();', "context.skip('needs a clock');"],
  [
    'skip-reasons',
    'test/a.test.ts',
    "test.skipIf(!x)('x', () => {});",
    "test.skipIf(!x)('x (needs y)', () => {});",
  ],
  [
    'sleeps',
    'test/a.realtime.test.ts',
    'await new Promise((done) => setTimeout(done, 50));',
    'await until(() => done);',
  ],
  ['sleeps', 'test/a.realtime.beside.test.ts', 'await sleep(50);', 'await world.sleep(50);'],
  [
    'restating',
    'server/a.ts',
    '/** All replicas. */\nconst replicas = 1;',
    '/** Those in sync. */\nconst replicas = 1;',
  ],
  [
    'restating',
    'server/a.ts',
    'class A {\n  /** Cancels the timers. */\n  cancelTimers(): void {}\n}',
    'class A {\n  /** The port, or 0. */\n  port = 0;\n}',
  ],
  ['retired', 'lab/a.ts', 'export class EmbedRoom {}', 'const embed = embedding();'],
  [
    'retired',
    'lab/a.ts',
    'export function startEmbed() {}',
    "export function embedding() { return 'embed'; }",
  ],
  ['marks', 'lab/a.ts', '// TODO: later', '// Later.'],
  ['marks', 'lab/a.ts', '/*\n<<<<<<< HEAD\n*/', '// a <<<<<<< b'],
  ['length', 'lab/a.ts', `const x = ${'y + '.repeat(40)} 1;`, `const x = '${'y'.repeat(200)}';`],
  ['length', 'lab/a.ts', `// ${'word '.repeat(40)}`, `// ${'word '.repeat(20)}`],
  ['words', 'lab/a.ts', 'const isMaster = 1;', "const role = 'master';"],
  ['words', 'lab/a.ts', '// The slave follows.', "// Redis calls it 'slave'."],
  ['ascii', 'lab/a.ts', 'const \u03b1 = 1;', "const x = '\u03b1'; // \u03b1"],
];

for (const [rule, path, bad, good] of planted) {
  test(`the rule '${rule}' finds ${bad.slice(0, 50).split('\n')[0]} in ${path}`, () => {
    const broken = (text: string) => violations([sourceFile(path, opened + text)]).map((v) => v.rule);
    expect(broken(bad)).toContain(rule);
    expect(broken(good)).not.toContain(rule);
  });
}

/** Trees that break a rule about the tree as a whole, each beside one that keeps it. */
const plantedTrees: Record<string, [bad: Record<string, string>, good: Record<string, string>]> = {
  circles: [
    {
      'server/a.ts': "import type { B } from './b.ts';\nexport const a = 1;",
      'server/b.ts': "import { c } from './c.ts';",
      'server/c.ts': "export { a } from './a.ts';",
    },
    {
      'server/a.ts': "import type { B } from './b.ts';",
      'server/b.ts': "export type B = 'x'; // from './a.ts'",
    },
  ],
  patches: [
    {
      'server/a.ts': 'export class A {\n  feedBytes(x: string): void {}\n}',
      'lab/b.ts': 'a.feedBytes = () => {};',
    },
    {
      'server/a.ts': 'export class A {\n  feedBytes(x: string): void {}\n  seen = 0;\n}',
      'lab/b.ts': 'a.seen = 1;\nif (a.feedBytes === b) c();',
    },
  ],
  'type-names': [
    { 'server/a.ts': 'export interface Rule {}', 'lab/b.ts': 'class Rule {}' },
    { 'server/a.ts': 'export interface Rule {}', 'lab/b.ts': "import type { Rule } from '../server/a.ts';" },
  ],
  suffixes: [
    {
      'test/a.test.ts': "import { thing } from './helper.ts';",
      'test/helper.ts':
        "import { startRedisServer } from './support/redis-server.ts';\nexport const thing = 1;",
    },
    {
      'test/a.realtime.test.ts': "import { thing } from './helper.ts';",
      'test/b.beside.alone.test.ts':
        "import { spawn } from 'node:child_process';\nawait using server = await startServer();",
      'test/c.test.ts':
        "import { hasRedisServer } from './support/redis-server.ts';\nimport type { ChildProcess } from 'node:child_process';",
      'test/d.test.ts': "import { World } from '../lab/virtual/world.ts';\nsetTimeout(task, 5);",
      'test/e.test.ts':
        "import { fork } from 'node:child_process'; // tidy suffixes: the processes play in worlds\nawait world.startServer();",
      'test/helper.ts':
        "import { startRedisServer } from './support/redis-server.ts';\nexport const thing = 1;",
    },
  ],
  docstrings: [
    {
      'index.ts': "export { type Rule, find } from './lab/b.ts';",
      'lab/b.ts':
        '/** A rule. */\nexport interface Rule {\n  readonly ms: number;\n}\n\nexport function find(): void {}',
    },
    {
      'index.ts': "export type { Rule } from './lab/b.ts';",
      'lab/b.ts':
        '/** A rule. */\nexport interface Rule {\n  /** Its age in milliseconds. */\n  readonly ms: number;\n}\n\nexport const inner = 1;',
    },
  ],
};

for (const [rule, [bad, good]] of Object.entries(plantedTrees)) {
  test(`the rule '${rule}' finds a tree that breaks it, and names the files`, () => {
    const broken = (tree: Record<string, string>) =>
      violations(Object.entries(tree).map(([path, text]) => sourceFile(path, `${opened}${text}\n`))).map(
        (violation) => violation.rule,
      );
    expect(broken(bad)).toContain(rule);
    expect(broken(good)).toEqual([]);
  });
}

test('a circle of imports is reported with every file in it', () => {
  const [circle] = violations(
    Object.entries(plantedTrees.circles![0]).map(([path, text]) => sourceFile(path, opened + text)),
  );
  expect(describeViolation(circle!)).toContain('server/a.ts, server/b.ts, server/c.ts');
});

test('every public export and member without a docstring is reported by name', () => {
  const found = violations(
    Object.entries(plantedTrees.docstrings![0]).map(([path, text]) => sourceFile(path, `${opened}${text}\n`)),
  ).map(describeViolation);
  expect(found.map((line) => line.replace(/ is public.*/, ''))).toEqual([
    'lab/b.ts:4 [docstrings] Rule.ms',
    'lab/b.ts:7 [docstrings] find',
  ]);
});

/** What a test cannot do under a name that says nothing. */
const unnamed: [bad: string, why: string][] = [
  ["import { spawn } from 'node:child_process';", 'starts a process'],
  ["import { Worker } from 'node:worker_threads';", 'starts a process'],
  ["import { startRedisServer } from './support/redis-server.ts';", 'starts real servers'],
  ["import { type RealRedis, freePort } from './support/redis-server.ts';", 'starts real servers'],
  ['await using server = await startServer();', 'listens on a port'],
  ["server.listen(0, '127.0.0.1');", 'listens on a port'],
  ["await using pair = await startPair({ clock: 'real' });", 'plays on the real clock'],
  ['const begun = Date.now();', 'uses the real clock'],
  ['const begun = performance.now();', 'uses the real clock'],
  ['setTimeout(task, 5);', 'uses the real clock'],
  ["import { setTimeout as wait } from 'node:timers/promises';", 'uses the real clock'],
];

for (const [bad, why] of unnamed) {
  test(`a test without the suffix that ${why} is told what to call its file: ${bad}`, () => {
    const found = (path: string) =>
      violations([sourceFile(path, `${opened}${bad}\n`)]).map(describeViolation);
    expect(found('test/a.alone.test.ts')).toEqual([
      `test/a.alone.test.ts:2 [suffixes] ${why}: call the file test/a.realtime.alone.test.ts, ` +
        'or test/a.beside.alone.test.ts when npm run test:beside should run it',
    ]);
    expect(found('test/a.realtime.alone.test.ts')).toEqual([]);
    expect(found('test/a.beside.test.ts')).toEqual([]);
    expect(found('test/helper.ts')).toEqual([]);
  });
}

test('every rule has a planted violation', () => {
  const proven = new Set(['opening', ...planted.map(([rule]) => rule), ...Object.keys(plantedTrees)]);
  expect([...rules, ...treeRules].map((rule) => rule.name).filter((name) => !proven.has(name))).toEqual([]);
});

test('a folder that belongs to no layer is found', () => {
  const broken = (path: string) => violations([sourceFile(path, opened)]).map((v) => v.rule);
  expect(broken('helpers/a.ts')).toEqual(['layers']);
  expect(broken('bench/a.ts')).toEqual([]);
});

test('a file without an opening sentence is found', () => {
  const broken = (text: string) => violations([sourceFile('lab/a.ts', text)]).map((v) => v.rule);
  expect(broken('export const x = 1;\n')).toEqual(['opening']);
  expect(broken('/** x */\nexport const x = 1;\n')).toEqual(['opening']);
  expect(broken(`${opened}export const x = 1;\n`)).toEqual([]);
  expect(broken(`#!/usr/bin/env node\n${opened}export const x = 1;\n`)).toEqual([]);
});

test('a line is excused only where the rule allows it and a reason is given', () => {
  const broken = (text: string) => violations([sourceFile('server/a.ts', opened + text)]).map((v) => v.rule);
  expect(broken('const x = Number(big); // tidy bytes: a bigint, not a byte string')).toEqual([]);
  expect(broken('const x = Number(big); // tidy bytes: ok')).toEqual(['bytes']);
  expect(broken("import { x } from '../lab/a.ts'; // tidy layers: it is only a type")).toEqual(['layers']);
});

test('rules do not take strings, comments and regular expressions for code', () => {
  const text = [
    'const a = /[/"]Date/.test(b) ? `#{Math.max(1, 2)} Date #{`#{c}` + "Date"}` : 1 / 2 / e;',
    "const d = 'it\\'s a Date'; /* Date */",
  ].join('\n');
  const planted = (code: string) =>
    violations([sourceFile('server/a.ts', opened + code.replaceAll('#', '$'))]);
  expect(planted(`${text}\n`)).toEqual([]);
  expect(planted('const a = `#{Date.now()}`;\n').map((v) => v.rule)).toEqual(['doors']);
});

test('docs/commands.md is what the command table generates', () => {
  const page = existsSync('docs/commands.md') ? readFileSync('docs/commands.md', 'utf8') : '';
  expect(page === commandsPage(allCommands), 'docs/commands.md is out of step: npm run docs').toBe(true);
});

test('every command is named in some test', () => {
  const tests = sources.filter((file) => /^test\/.*\.ts$/.test(file.path) && !file.path.includes('tidy'));
  const transcripts = readdirSync('test/transcripts').map((name) =>
    readFileSync(`test/transcripts/${name}`, 'utf8'),
  );
  const cure = 'name it in a test under test/server/, or play it in test/transcripts/';
  const text = [...tests.map((file) => file.text), ...transcripts].join('\n');
  expect(untestedCommands(allCommands, text), cure).toEqual([]);
});

const one = {
  summary: 'Does one | thing.',
  since: '1.0.0',
  arity: -2,
  flags: ['fast'],
  run: () => null,
} as const;
const table: Command[] = [
  ...defineCommands('string', { getex: one }),
  defineContainer(
    'connection',
    'client',
    { summary: 'A container.', since: '2.4.0', flags: [] },
    { setname: one },
  ),
];

test('the page of commands names each command and subcommand of a table', () => {
  const page = commandsPage(table);
  expect(page).toContain('| `GETEX key [EX seconds \\| PX milliseconds');
  expect(page).toContain('| `CLIENT SETNAME connection-name` | fast | 1.0.0 | Does one \\| thing. |');
  expect(commandsPage([...table].reverse())).toBe(page);
});

test('a command that no test names is found', () => {
  expect(untestedCommands(table, 'getex, client setnames')).toEqual(['getex', 'client|setname']);
  expect(untestedCommands(table, "redis.getex('x'); client.call('client', 'setname')")).toEqual([]);
  expect(untestedCommands(table, 'GETEX key; CLIENT SETNAME x')).toEqual([]);
});
