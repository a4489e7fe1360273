/** CLIENT LIST shows the command that a client asked for last, also if it was refused: as all six servers answer. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

test.each([
  ['GET k', 'get'],
  ['GET', 'get'],
  ['EXEC a', 'exec'],
  ['NOPE x', 'NULL'],
  ['CLIENT NOPE', 'NULL'],
  ['CLIENT', 'client'],
  ['MODULE LOAD x', 'module|load'],
])('after %s it is %s', (line, command) => {
  const node = createNode(new TestHost());
  const [asking, looking] = [new Conversation(node), new Conversation(node)];
  const id = asking.ask('CLIENT ID').slice(1);
  asking.ask(line);
  expect(looking.ask(`CLIENT LIST ID ${id}`)).toContain(` cmd=${command} `);
});
