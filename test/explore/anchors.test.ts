/** Faults that follow events: their texts, and tests of findings that do not turn green because other code has changed. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Anchor, anchorOf, anchorText, anchorWords } from '../../explore/anchors/anchor.ts';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { decodePlan, encodePlan } from '../../explore/plan.ts';
import { type Change, stock } from './stock.ts';

/** What 600 worlds of that lock find. */
const findings = {
  'restart-empty': '2:1:0:B,C:restart-empty@B.enters.stock.1/redis-1/20=B:89b220068be9',
  'node-pause': '2:1:0:A,B,C:node-pause@A.enters.stock.1/redis-1/1500=A:bf7e5f75ab2f',
  'client-pause': '2:1:0:A,B:client-pause@A.enters.stock.1/A/1500=A:8c63cf1e5a28',
  'failover-behind': '2:1:0:A,B:failover-behind@A.grant.stock.1.executed/redis-1/5/8/crash:ccf0c4dc8766',
  partition: '2:1:0:A,B,C:partition@A.grant.stock.1.executed/A/1500:7adde0e157d4',
  'connection-reset': '2:1:0:A,B,C:connection-reset@A.DEL.stock~lock.1.executed/A=~DEL:c647cbcd4989',
  delay: '2:1:0:A,B,C:delay@A.leaves.stock.1/B/20/1200/replies:f03c3f273af1',
  'lost-reply': '2:1:0:A,B,C:lost-reply@A.leaves.stock.1/A=~DEL:ca0ddc62fccf',
  'clock-jump': '2:1:0:A,C:clock-jump@A.grant.stock.1.executed/redis-1//1100:480d026113ce',
};

/** What the test of a finding shows, which plays the finding again with code that may have changed. */
function outcome(change: Change, text: string): Promise<string> {
  return replay(stock(change), text, { sameTrace: false }).then(
    ({ breaches }) => breaches[0]?.promise ?? 'green',
    (error: Error & { code: string }) => error.code,
  );
}

test.each(Object.entries(findings))(
  'the test of a finding stays red without a repair: %s',
  async (kind, text) => {
    expect(await outcome({}, text)).toBe('mutual-exclusion');
    // The same moment of the same client, whatever else has changed.
    expect(await outcome({ reads: true }, text)).toBe('mutual-exclusion');
    expect(await outcome({ start: 100 }, text)).toBe('mutual-exclusion');
    expect(await outcome({ work: 250 }, text)).toBe('mutual-exclusion');
    if (kind === 'node-pause') expect(await outcome({ token: true }, text)).toBe('green');
  },
);

test('a fault whose event does not happen any more, or that strikes something else, is refused with the reason', async () => {
  const refused = (change: Change, text: string) => expect(replay(stock(change), text)).rejects;
  await refused({ token: true }, findings['connection-reset']).toThrow(
    'connection-reset of A no longer strikes: A never has DEL of stock:lock executed. The code has changed',
  );
  await refused({ token: true }, findings['lost-reply']).toThrow(
    /then DEL was lost; now |then nobody was inside, and DEL was lost; now /,
  );
  await refused({}, findings['client-pause'].replace('stock.1', 'stock.2')).toThrow(
    'A only once enters stock',
  );
  // It strikes, but nobody is inside yet.
  await refused({}, findings['client-pause'].replace('A.enters.stock.1', 'A.SET.stock~lock.1.sent')).toThrow(
    'then A was inside; now nobody was inside',
  );
  // The node is down already when the second fault is due.
  const twice =
    '2:1:0:B,C:restart-disk@B.enters.stock.1/redis-1/20=B;node-pause@B.enters.stock.1+5/redis-1/5=B:0123456789ab';
  await refused({}, twice).toThrow('node-pause of redis-1 no longer strikes: it finds nothing to strike');
});

test('a fault follows an event that an earlier fault brings about, and each strikes at once after its own', async () => {
  const text =
    '2:1:0:A,B:client-death@A.enters.stock.1/A=A;client-pause@B.enters.stock.1+5/B/50=B:000000000000';
  const { history, replay: again } = await replay(stock(), text, { sameTrace: false });
  const [death, pause] = history.faults;
  const entered = (name: string) => history.visits.find(({ client }) => client === name)?.from;
  expect(death?.at).toBeCloseTo((entered('A') as number) + 0.001, 6);
  // B gets in only because A's lease has ended.
  expect(entered('B')).toBeGreaterThan(1000);
  expect(pause?.at).toBeCloseTo((entered('B') as number) + 5.001, 6);
  expect(decodePlan(again)?.plan.faults.map(({ after }) => after && anchorText(after))).toEqual([
    'A.enters.stock.1',
    'B.enters.stock.1+5',
  ]);
});

test('a text with times still plays, and says when its trace is another one', async () => {
  const old = '1:1:0:A,B:client-pause@262/A/1500/0:';
  const first = await replay(stock(), `${old}000000000000`);
  expect(first).toMatchObject({
    sameTrace: true,
    replay: expect.stringMatching(/^2:1:0:A,B:client-pause@A\.enters\.stock\.1\+/),
  });
  const hash = first.replay.split(':').at(-1);
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  expect((await replay(stock(), `${old}${hash}`)).story).not.toContain('another one now');
  expect(emitted).not.toHaveBeenCalled();
  const changed = await replay(stock({ work: 200 }), `${old}${hash}`, { sameTrace: false });
  expect(changed).toMatchObject({ breaches: [], sameTrace: false });
  expect(changed.story).toContain(
    'The faults of this replay text strike at fixed times, and its trace is another one now',
  );
  expect(emitted).toHaveBeenCalledOnce();
  // The new text shows the same world, and is not fooled.
  expect((await replay(stock(), first.replay)).breaches).toHaveLength(1);
  await expect(replay(stock({ work: 200 }), first.replay, { sameTrace: false })).rejects.toThrow(
    'no longer strikes',
  );
});

test('a finding has a text with events, fewer clients, and no delay that does nothing', async () => {
  const { findings: found } = await explore({
    ...stock({ token: true }),
    faults: ['restart-empty'],
    budget: { worlds: 60, ms: Infinity },
  });
  const texts = found.map(({ replay: text }) => text);
  expect(texts).toEqual([
    expect.stringMatching(
      /^2:1:0:[AB],[BC]:restart-empty@[AB]\.(?:enters\.stock\.1|grant\.stock\.1\.executed)\/redis-1\/20(?:=[AB])?:/,
    ),
  ]);
});

test('scripts have one name, keys that look random have none, and a key may have any sign', async () => {
  const session = async ({ redis, resource }: ClientSession): Promise<void> => {
    await redis.eval('return 1', 1, 'a.b:c');
    await redis.evalsha('e0e1f9fabfc9d4800c877a703b823ac0578ff8db', 1, 'a.b:c');
    await redis.set('job:0192837465', 1);
    resource('s').enter().leave();
  };
  const options: ExploreOptions = { name: 'scripts', clients: 1, client: session };
  const text =
    '2:1:0:A:client-pause@A.script-e0e1f9.a%2Eb~c.2.executed/A/5;client-pause@A.SET..1.sent/A/5:000000000000';
  const { history } = await replay(options, text);
  const sent = history.messages.filter(({ from, sent: at }) => from.startsWith('A') && at >= 0);
  expect(history.faults.map(({ at }) => at)).toEqual([
    sent[1]!.arrived + 0.001,
    expect.closeTo(sent[2]!.sent + 0.001, 6),
  ]);
});

const anchor: Anchor = { client: 'A', what: 'SET', of: 'k', nth: 1, side: 'executed', later: 0 };

test.each<[string, string, Partial<Anchor>]>([
  ['A.SET.k.1.executed', "after A's 1st SET of k was executed, before its reply", {}],
  [
    'A.SET.k~1%2E.12.sent',
    'after A sent its 12th SET of k:1., before it was executed',
    { of: 'k:1.', nth: 12, side: 'sent' },
  ],
  [
    'A.PING..3.answered+0.5',
    "0.5 ms after the reply to A's 3rd PING",
    { what: 'PING', of: '', nth: 3, side: 'answered', later: 0.5 },
  ],
  [
    'A.script-0a1b2c.k.22.executed+7',
    "7 ms after A's 22nd script-0a1b2c of k was executed",
    { what: 'script-0a1b2c', nth: 22, later: 7 },
  ],
  ['A.enters.a%3Ab.1'.replace('%3A', '~'), 'after A entered a:b', { what: 'enters', of: 'a:b', side: '' }],
  [
    'A.leaves.k.2+260',
    '260 ms after A left k for the 2nd time',
    { what: 'leaves', nth: 2, side: '', later: 260 },
  ],
])('%s means %s', (text, words, change) => {
  const each = { ...anchor, ...change };
  expect(anchorText(each)).toBe(text);
  expect(anchorOf(text)).toEqual(each);
  expect(anchorWords(each)).toBe(words);
});

test('a text that is no anchor is refused, and a plan keeps all of its faults', () => {
  for (const text of [
    'A.SET.k.1',
    'A.SET.k.0.sent',
    'A.enters.k.1.sent',
    'A.SET.k.1.done',
    'A.SET.%.1.sent',
    '5',
    '',
  ])
    expect(anchorOf(text), text).toBeUndefined();
  for (const text of Object.values(findings)) {
    const { plan, hash, byTime } = decodePlan(text)!;
    expect(byTime).toBe(false);
    expect(encodePlan(plan, hash)).toBe(text);
  }
  expect(decodePlan('2:1:0:A:delay@A.SET.k.1/A:0123456789ab')).toBeUndefined();
});
