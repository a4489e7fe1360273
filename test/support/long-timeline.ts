/** A long timeline: three clients that take turns at a lock on a primary with a replica. */
import type { Timeline, TimelineHold, TimelineKey, TimelineMessage } from '../../page/format.ts';

/** One with so many messages, a tenth of which are acquisitions. @param count how many messages */
export function longTimeline(count: number): Timeline {
  const messages: TimelineMessage[] = [];
  const holds: TimelineHold[] = [];
  const keys: TimelineKey[] = [];
  let at = 0;
  const send = (
    from: string,
    to: string,
    kind: TimelineMessage['kind'],
    text: string,
    cause?: number,
  ): number => {
    const sent = at;
    at += 700 + ((messages.length * 7919) % 600);
    const lost = messages.length % 997 === 996;
    const fate = lost ? ({ arrived: null, fate: 'lost', died: at } as const) : { arrived: at };
    const why = cause === undefined ? {} : { cause };
    return (
      messages.push({ from, to, port: '50001', kind, sent, due: at, bytes: text, text, ...fate, ...why }) - 1
    );
  };
  while (messages.length < count) {
    const client = ['A', 'B', 'C'][holds.length % 3] as string;
    const request = send(client, 'redis-1', 'request', `SET my:lock ${client} NX PX 30000`);
    const copy = send('redis-1', 'redis-2', 'stream', `SET my:lock ${client} PXAT 1767225630023`, request);
    const grant = send('redis-1', client, 'reply', 'OK', request);
    const from = at;
    send('redis-2', 'redis-1', 'ack', 'REPLCONF ACK 86', copy);
    for (let i = 0; i < 3; i++)
      send('redis-1', client, 'reply', '1', send(client, 'redis-1', 'request', 'GET stock'));
    const lease = from + 30_000_000;
    holds.push({
      client,
      key: 'my:lock',
      kind: 'lock',
      from,
      to: at,
      lease,
      renewals: [],
      ended: 'released',
      grant,
    });
    keys.push({ node: 'redis-1', key: 'my:lock', holder: client, from, to: at, ended: 'deleted' });
    at += 3000;
  }
  return {
    title: `A run of ${count} messages`,
    clock: 'virtual',
    end: at,
    lanes: [
      ...['A', 'B', 'C'].map((name) => ({ name, kind: 'client' as const })),
      ...['redis-1', 'redis-2'].map((name) => ({ name, kind: 'node' as const })),
    ],
    messages,
    marks: [{ at: at / 2, lane: 'redis-1', kind: 'pause', text: 'stands still' }],
    holds,
    keys,
    overlaps: [],
    story: [{ at: 0, lane: 'A', text: 'It begins.', mood: 'plain', about: { message: 0 } }],
    verdict: { safe: true, holders: [], why: 'They take turns.' },
  };
}
