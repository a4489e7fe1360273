/** Which scripts a node knows by SHA-1: those of EVAL are evicted since Redis 7.4 and Valkey 8. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type DialectName, dialectNamed, dialectNames } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { talkBeside } from '../../support/beside/talk.ts';
import { RawClient } from '../../support/raw-client.ts';
import { printReply } from '../../support/reply-text.ts';
import { splitWords } from '../../transcripts/transcript.ts';

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The first scripts, each of which is used in another way before newer ones arrive. */
const FIRST = [
  'return 0', // untouched
  'return 1', // EVALSHA
  'return 2', // SCRIPT EXISTS
  'return 3', // SCRIPT LOAD
  'return 4', // EVAL
  'return 5', // EVAL_RO
  'return 6', // EVALSHA_RO, in capitals
  'return missing.field', // EVALSHA, which fails
  '#!lua\nreturn 8', // EVALSHA_RO, which is refused by its flags
  '#!lua\nreturn 9', // EVAL_RO, which is refused by its flags
  'return 10', // EVALSHA, refused for its number of keys
  'return 11', // EVALSHA in a transaction
];
const quoted = (text: string): string => `"${text.replaceAll('\n', '\\n')}"`;
const known = (...texts: string[]): string => `SCRIPT EXISTS ${texts.map(sha1).join(' ')}`;
const evaluate = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `EVAL "return ${from + i}" 0`);
const SHOW = [known(...FIRST), 'INFO everything'];

const LINES = [
  ...FIRST.map((text) => `EVAL ${quoted(text)} 0`),
  ...evaluate(1000, 1488),
  ...SHOW,
  `EVALSHA ${sha1('return 1')} 0`,
  known('return 2'),
  'SCRIPT LOAD "return 3"',
  'EVAL "return 4" 0',
  'EVAL_RO "return 5" 0',
  `EVALSHA_RO ${sha1('return 6').toUpperCase()} 0`,
  `EVALSHA ${sha1('return missing.field')} 0`,
  `EVALSHA_RO ${sha1('#!lua\nreturn 8')} 0`,
  'EVAL_RO "#!lua\\nreturn 9" 0',
  `EVALSHA ${sha1('return 10')} 1`,
  'MULTI',
  `EVALSHA ${sha1('return 11')} 0`,
  'EXEC',
  // What does not compile takes no place.
  'EVAL "return (" 0',
  'SCRIPT LOAD "return ("',
  ...SHOW,
  ...evaluate(2000, 2006),
  ...SHOW,
  // In a transaction too, scripts are evicted as each EVAL runs.
  'MULTI',
  'EVAL "return 2006" 0',
  `EVALSHA ${sha1('return 1000')} 0`,
  'EVAL "return 2007" 0',
  `EVALSHA ${sha1('return 1002')} 0`,
  'EVAL "return 2008" 0',
  known('return 1000', 'return 1001', 'return 1002', 'return 1003', 'return 2008'),
  'EXEC',
  ...SHOW,
  // Loaded scripts stay, also when EVAL runs them. Functions have nothing to do with this.
  ...Array.from({ length: 20 }, (_, i) => `SCRIPT LOAD "return ${3000 + i}"`),
  'EVAL "return 3000" 0',
  "FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() return 'called' end)\"",
  ...evaluate(4000, 4600),
  'FCALL f 0',
  known('return 3000', 'return 3019', 'return 2008', 'return 4000', 'return 4100', 'return 4599'),
  ...SHOW,
  // An evicted script may come back, and be loaded for good.
  'EVAL "return 1" 0',
  'SCRIPT LOAD "return 2"',
  'EVAL "return 2" 0',
  ...SHOW,
  'CONFIG RESETSTAT',
  'INFO everything',
  'SCRIPT FLUSH',
  ...SHOW,
  ...evaluate(5000, 5501),
  known('return 5000', 'return 5001', 'return 5500'),
  'INFO everything',
];

/** Of INFO, the two figures; of a failed script, all but its place, which Valkey 9 names without the SHA-1. */
function shown(reply: string): string {
  const figures = /number_of_cached_scripts:\d+|evicted_scripts:\d+/g;
  if (reply.includes('number_of_cached_scripts')) return (reply.match(figures) ?? []).join(' ');
  return reply.replace(/ script: .*/, '');
}

testBeside(dialectNames, 'the server of %s forgets the same scripts as ours', async (dialect) => {
  const { ours, theirs } = await talkBeside(dialect, LINES, shown);
  expect(ours).toEqual(theirs);
});

async function toldIn(dialect: DialectName): Promise<string[]> {
  const node = createNode(nodeHost(), { dialect, strict: true });
  const client = new RawClient(connectInMemory(node.connections));
  const replies: string[] = [];
  for (const line of LINES) {
    const [command = '', ...words] = splitWords(line);
    const reply = shown(printReply((await client.ask(command, ...words)).value));
    if (line === SHOW[0]) replies.push(reply.replaceAll(/[^01]/g, ''));
    else if (line === SHOW[1]) replies.push(reply.replaceAll(/[a-z_]+:/g, ''));
  }
  client.close();
  node.stop();
  return replies;
}

/** For each look: which of the twelve first scripts are known; the number of cached scripts, and of evicted ones. */
const TOLD = {
  'all stay': [
    ...['111111111111', '500', '111111111111', '500', '111111111111', '506', '111111111111', '509'],
    ...['111111111111', '1129', '111111111111', '1129', '1129', '000000000000', '0', '501'],
  ],
  'the last 500': [
    ...['111111111111', '500 0', '111111111111', '500 0', '010011110001', '500 6', '010011110001', '500 9'],
    ...['000000000000', '520 609', '011000000000', '521 610', '521 0', '000000000000', '0 0', '500 1'],
  ],
  'the last 500, unless loaded later': [
    ...['111111111111', '500 0', '111111111111', '500 0', '010111110001', '501 5', '010111110001', '501 8'],
    ...['000100000000', '521 608', '011100000000', '522 609', '522 0', '000000000000', '0 0', '500 1'],
  ],
};

describe('the scripts of EVAL that stay, with the numbers of cached and of evicted scripts', () => {
  test.each(dialectNames)('in %s', async (dialect) => {
    const { evaluatedScripts } = dialectNamed(dialect);
    expect(await toldIn(dialect)).toEqual(TOLD[evaluatedScripts]);
  });
});
