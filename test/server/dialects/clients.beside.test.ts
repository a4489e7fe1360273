/** CLIENT of each dialect beside its real server: the fields of CLIENT LIST, filters, SETINFO and tracking. */
import { expect } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { talkBeside } from '../../support/beside/talk.ts';

/** Fields that depend on the machine, the transport or the server's memory. */
const LOOSE =
  /\b(addr|laddr|fd|age|idle|qbuf|qbuf-free|argv-mem|multi-mem|rbs|rbp|tot-mem|obl|oll|omem)=\S* /g;

/** A reply whose descriptions of clients leave out what differs between machines. */
function shown(reply: string): string {
  if (!reply.includes('id=')) return reply;
  return (
    reply
      .replaceAll(LOOSE, '')
      .replaceAll(/flags=(\w*)U/g, 'flags=$1')
      .replaceAll('flags= ', 'flags=N ')
      // Where a description was sent, the size depends on the addresses in it.
      .replaceAll(/tot-net-out=\d{3,}/g, 'tot-net-out')
  );
}

const LINES = [
  'CLIENT LIST ID {c} {a} {b} {a}',
  'CLIENT INFO',
  'CLIENT NO-TOUCH ON',
  'CLIENT NO-TOUCH maybe',
  'CLIENT NO-EVICT ON',
  'CLIENT NO-EVICT maybe',
  'CLIENT SETINFO LIB-NAME lib',
  'CLIENT SETINFO lib-ver 1.2',
  'CLIENT SETINFO LIB-FOO 1.2',
  'CLIENT SETINFO lib-Ver "a b"',
  'CLIENT INFO',
  'CLIENT SETINFO LIB-NAME ""',
  'CLIENT CAPA redirect other',
  'CLIENT CAPA',
  'CLIENT IMPORT-SOURCE ON',
  'READONLY',
  'CLIENT INFO',
  'WATCH x y y',
  'CLIENT INFO',
  'MULTI',
  'CLIENT INFO',
  'EXEC',
  'CLIENT INFO',
  "EVAL \"redis.call('ping') redis.call('ping') return 1\" 0",
  'CLIENT INFO',
  'NOSUCH',
  'GET',
  'CLIENT INFO',
  'b> SUBSCRIBE x',
  'PUBLISH x hello',
  'CLIENT LIST ID {b}',
  'CLIENT TRACKING ON OPTIN',
  'CLIENT CACHING YES',
  'CLIENT INFO',
  'CLIENT TRACKINGINFO',
  'CLIENT TRACKING ON OPTOUT',
  'CLIENT TRACKING ON REDIRECT 99999',
  'CLIENT TRACKING OFF',
  'CLIENT LIST ID {c} {b} TYPE normal',
  'CLIENT LIST SKIPME yes ID {a} {c}',
  'CLIENT LIST SKIPME maybe',
  'CLIENT LIST MAXAGE 1000',
  'CLIENT LIST MAXAGE 0',
  'CLIENT LIST MAXAGE x',
  'CLIENT LIST ADDR x LADDR y',
  'CLIENT LIST USER nobody',
  'CLIENT LIST USER default ID {c}',
  'CLIENT LIST ID {c} ID {a}',
  'CLIENT LIST TYPE normal TYPE pubsub ID {b} {c}',
  'CLIENT LIST TYPE primary',
  'CLIENT LIST TYPE slave',
  'CLIENT LIST TYPE other',
  'CLIENT LIST TYPE',
  'CLIENT LIST ID',
  'CLIENT LIST SKIPME yes ID',
  'CLIENT LIST ID x',
  'CLIENT LIST ID 0',
  'CLIENT LIST ID 1 x',
  'CLIENT LIST NAME x',
  'CLIENT KILL MAXAGE 1000',
  'CLIENT KILL MAXAGE 0',
  'CLIENT KILL MAXAGE -1',
  'CLIENT KILL MAXAGE x',
  'CLIENT KILL ID 9998 9999',
  'CLIENT KILL ID 9998 ID 9999',
  'CLIENT KILL ID 0',
  'CLIENT KILL ID x SKIPME yes',
  'CLIENT KILL ID 9998 x',
  'CLIENT KILL ID',
  'CLIENT KILL SKIPME maybe',
  'CLIENT KILL SKIPME yes ID',
  'CLIENT KILL TYPE other',
  'CLIENT KILL TYPE primary',
  'CLIENT KILL USER nobody',
  'CLIENT KILL FLAGS x',
  'CLIENT KILL a b c',
  'CLIENT KILL 1.2.3.4:5',
  'CLIENT KILL ID {c} TYPE pubsub',
  'CLIENT KILL ID {b} TYPE pubsub',
  'CLIENT UNBLOCK {c} x',
  'CLIENT UNBLOCK {c} TIMEOUT x',
  'CLIENT PAUSE 0 x',
  'CLIENT PAUSE 0 ALL x',
  'CLIENT PAUSE 0 NOSUCH x',
  'CLIENT PAUSE x NOSUCH x',
  'CLIENT PAUSE x NOSUCH',
  'CLIENT UNPAUSE',
  'CLIENT LIST TYPE pubsub',
];

testBeside(dialectNames, '%s answers CLIENT as its server', async (dialect) => {
  const { ours, theirs } = await talkBeside(dialect, LINES, shown);
  expect(ours).toEqual(theirs);
});
