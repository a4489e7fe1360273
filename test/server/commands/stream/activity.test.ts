/** When a consumer of a stream was last active: it got an entry to acknowledge. */
import { expect, test } from 'vitest';
import { createNode } from '../../../../server/index.ts';
import { TestHost } from '../../../support/targets.ts';
import { Conversation } from '../../../transcripts/own.ts';

test('a consumer is active when it gets an entry to acknowledge, not when it reads its own again', () => {
  const host = new TestHost();
  const conversation = new Conversation(createNode(host, { dialect: 'redis-8.2' }));
  const ask = (line: string): string => conversation.ask(line);
  const inactive = (): string => /"inactive" :(-?\d+)/.exec(ask('XINFO CONSUMERS x g'))?.[1] ?? '';
  ask('XGROUP CREATE x g 0 MKSTREAM');
  ask('XADD x 1-1 f v');
  ask('XREADGROUP GROUP g c NOACK STREAMS x >');
  expect(inactive()).toBe('-1');
  ask('XADD x 1-2 f v');
  ask('XREADGROUP GROUP g c STREAMS x >');
  expect(inactive()).toBe('0');
  host.advance(300);
  ask('XREADGROUP GROUP g c STREAMS x 0');
  expect(inactive()).toBe('300');
  ask('XCLAIM x g c 0 1-2');
  expect(inactive()).toBe('0');
});
