/** HELP of the containers, made from the syntax lines of their subcommands. */
import { expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** The lines of a HELP that are not sentences. */
function usageLines(container: string, dialect: DialectName): string[] {
  const node = createNode(new TestHost(), { dialect });
  const reply = new Conversation(node).ask(`${container} HELP`);
  return reply
    .replace(/^\[\+|\]$/g, '')
    .split(' +')
    .filter((line) => !line.startsWith(' '));
}

test('each subcommand has a usage line: values in angle brackets, options in square ones, choices between bars', () => {
  expect(usageLines('XGROUP', 'redis-7.0')).toEqual([
    'XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
    'CREATE <key> <groupname> <id>|$ [MKSTREAM] [ENTRIESREAD <entries_read>]',
    'CREATECONSUMER <key> <groupname> <consumername>',
    'DELCONSUMER <key> <groupname> <consumername>',
    'DESTROY <key> <groupname>',
    'SETID <key> <groupname> <id>|$ [ENTRIESREAD <entries_read>]',
    'HELP',
  ]);
  expect(usageLines('ACL', 'redis-7.0')).toEqual(
    expect.arrayContaining(['DELUSER <username> [<username> ...]', 'SETUSER <username> [<rule> ...]']),
  );
});

test('a dialect lists the options that its server has', () => {
  const kill = (dialect: DialectName): string | undefined =>
    usageLines('CLIENT', dialect).find((line) => line.startsWith('KILL'));
  expect(kill('redis-7.0')).not.toContain('MAXAGE');
  expect(kill('redis-8.2')).toContain('|[MAXAGE <maxage>]');
});
