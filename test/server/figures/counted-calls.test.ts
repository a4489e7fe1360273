/** What INFO commandstats and CLIENT LIST count of calls that wait, and of calls that fail within a script. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

function counts(info: string, command: string): string {
  return new RegExp(`cmdstat_${command}:(calls=\\d+),.*?(rejected_calls=\\d+,failed_calls=\\d+)`)
    .exec(info)
    ?.slice(1)
    .join() as string;
}

test('each error among the values of a script is a failed call of the script', () => {
  const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
  const a = new Conversation(node);
  a.ask(`EVAL "return {1,{2,{err='X my'}},redis.pcall('GET')}" 0`);
  a.ask(`EVAL "redis.pcall('GET') return {1}" 0`);
  const info = a.ask('INFO commandstats');
  expect(counts(info, 'eval')).toBe('calls=2,rejected_calls=0,failed_calls=2');
  expect(counts(info, 'get')).toBe('calls=0,rejected_calls=2,failed_calls=0');
  node.stop();
});

test('a call that waited is counted among those of its client when it ends, however it ends', () => {
  const host = new TestHost();
  const node = createNode(host, { dialect: 'redis-8.2' });
  const [a, b] = [new Conversation(node), new Conversation(node)];
  const id = a.ask('CLIENT ID').slice(1);
  const total = (): number => Number(/tot-cmds=(\d+)/.exec(b.ask(`CLIENT LIST ID ${id}`))?.[1]);
  const totals = [total()];
  const wait = (end: () => void): void => {
    a.ask('BLPOP list 0.5');
    expect(total()).toBe(totals.at(-1));
    end();
    totals.push(total());
  };
  wait(() => host.advance(600));
  wait(() => b.ask('RPUSH list x'));
  wait(() => b.ask(`CLIENT UNBLOCK ${id}`));
  wait(() => b.ask(`CLIENT UNBLOCK ${id} ERROR`));
  expect(totals.map((each) => each - totals[0]!)).toEqual([0, 1, 2, 3, 4]);
  node.stop();
});

test('a command that has not finished is not counted: INFO within a script within a transaction', () => {
  const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
  const a = new Conversation(node);
  for (const line of ['MULTI', `EVAL "return redis.call('INFO','commandstats')" 0`]) a.ask(line);
  expect([...a.ask('EXEC').matchAll(/cmdstat_(\w+)/g)].map(([, name]) => name)).toEqual(['multi']);
  expect(counts(a.ask('INFO commandstats'), 'eval')).toBe('calls=1,rejected_calls=0,failed_calls=0');
  node.stop();
});

test('a changed key ends the watch of all keys', () => {
  const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
  const [a, b] = [new Conversation(node), new Conversation(node)];
  a.ask('WATCH k l');
  expect(a.ask('CLIENT INFO')).toContain(' watch=2 ');
  expect(a.ask('INFO clients')).toContain('total_watched_keys:2');
  b.ask('SET k v');
  expect(a.ask('CLIENT INFO')).toContain(' watch=0 ');
  expect(a.ask('CLIENT INFO')).toContain(' flags=d ');
  expect(a.ask('INFO clients')).toContain('total_watched_keys:0');
  a.ask('WATCH l');
  a.ask('MULTI');
  a.ask('PING');
  expect(a.ask('EXEC')).toBe('nil*');
  node.stop();
});

test('ACL LOG has the word of a failed login as the client has written it', () => {
  const node = createNode(new TestHost(), {});
  const a = new Conversation(node);
  a.ask('aUTH nobody wrong');
  a.ask('Hello 3 AUTH nobody wrong');
  expect([...a.ask('ACL LOG').matchAll(/"object" "(\w+)"/g)].map(([, word]) => word)).toEqual([
    'Hello',
    'aUTH',
  ]);
  node.stop();
});

test('SPOP of a whole set is a hit, and a field whose new time has passed is an expired one', () => {
  const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
  const a = new Conversation(node);
  const figures = (): string =>
    [...a.ask('INFO stats').matchAll(/(?:keyspace_hits|expired_subkeys):(\d+)/g)].map(([, n]) => n).join();
  a.ask('SADD s a b c');
  a.ask('SPOP s 2');
  expect(figures()).toBe('0,0');
  a.ask('SPOP s 5');
  expect(figures()).toBe('0,1');
  a.ask('HSET h a 1 b 2');
  a.ask('HPEXPIREAT h 4 FIELDS 1 a');
  expect(figures()).toBe('1,1');
  node.stop();
});
