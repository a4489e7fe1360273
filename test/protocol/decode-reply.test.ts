/** The decoder of replies: it reads back what the encoder writes as RESP2, in whatever pieces it arrives. */
import { describe, expect, test } from 'vitest';
import { ReplyDecoder } from '../../protocol/decode-reply.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { type Reply, ReplyError, SimpleString } from '../../protocol/reply.ts';

const replies: readonly Reply[] = [
  new SimpleString('PONG'),
  new ReplyError('NOAUTH Authentication required.'),
  42,
  -1,
  '',
  'a\r\nb',
  null,
  [],
  [1, 'two', [null, ['deep']], new SimpleString('OK')],
];

function decode(pieces: readonly string[]): Reply[] {
  const decoder = new ReplyDecoder();
  const all: Reply[] = [];
  for (const piece of pieces) {
    decoder.write(piece);
    for (let reply = decoder.next(); reply !== undefined; reply = decoder.next()) all.push(reply);
  }
  return all;
}

describe('the decoder of replies', () => {
  const bytes = replies.map((reply) => encodeReply(reply, 2)).join('');

  test('it reads back what was encoded', () => {
    expect(decode([bytes])).toEqual(replies);
  });

  test('it reads the same byte by byte', () => {
    expect(decode([...bytes])).toEqual(replies);
  });

  test.each(['?x\r\n', '$x\r\n', '$-2\r\n', '*-2\r\n', ':1.5\r\n', `${'*1\r\n'.repeat(40)}:1\r\n`])(
    '%j is not a reply, and nothing after it is read',
    (bad) => {
      const decoder = new ReplyDecoder();
      decoder.write(`${bad}+OK\r\n`);
      expect(decoder.next()).toBeUndefined();
      expect(decoder.failure).toBeDefined();
      expect(decoder.next()).toBeUndefined();
    },
  );
});
