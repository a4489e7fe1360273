/**
 * A process that has used servers, pairs and clusters ends, in every way in which a process or a thread can end. Node waits
 * for ever, at 100 % CPU, for a handle that was not closed as Node expects.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { nodeProgram, ownVersion } from '../../packaging/fresh/node-versions.ts';
import { isLongRun } from '../../support/long.ts';
import { hasRedisServer } from '../../support/redis-server.ts';

/** How long a child may live when it has said that it is about to end. One that hangs lives for ever. */
const LIMIT_MS = 10_000;

const few = ['server', 'late', 'held'];
const all = [
  ...few,
  'stopped',
  'files',
  'tls',
  'reset',
  'failedOver',
  'sentinels',
  'redlock',
  'virtual',
  'cluster',
  'labCluster',
  ...(isLongRun ? ['thread'] : []),
  ...(hasRedisServer ? ['realNodes'] : []),
];

/** The ways to end, and the end that the parent sees: an exit code or a signal. */
const ends: Readonly<Record<string, number | string>> = {
  returning: 0,
  exit: 0,
  exception: 1,
  rejection: 1,
  signal: 'SIGTERM',
  handled: 0,
  'thread returning': 0,
  'thread exit': 0,
  'thread exception': 0,
  'thread terminated': 0,
};

/** What an open server is for: it keeps the process, or the thread, alive. */
const isEnding = (state: string, how: string): boolean => state === 'closed' || !how.endsWith('returning');

const versions = isLongRun && process.env.LOSTLOCK_NETWORK === '1' ? [20, 22, 24, 26] : [ownVersion];
const inFull = versions.flatMap((version) =>
  ['closed', 'open'].flatMap((state) =>
    Object.keys(ends)
      .filter((how) => isEnding(state, how))
      .map((how) => ({ version, state, how, names: all })),
  ),
);
const sample = [
  { version: ownVersion, state: 'closed', how: 'returning', names: all },
  { version: ownVersion, state: 'open', how: 'handled', names: few },
  { version: ownVersion, state: 'open', how: 'thread terminated', names: few },
];

test.each(isLongRun ? inFull : sample)(
  'a process ends (Node $version, what it used is $state, $how)',
  async ({ version, state, how, names }) => {
    const main = 'test/lab/real-clock/process-ends-main.ts';
    const args = ['--import', './test/support/loader/register.mjs', main, names.join(','), state, how];
    const child = spawn(nodeProgram(version), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    const ended = once(child, 'close');
    const [ready] = await Promise.race([once(child.stdout, 'data'), ended.then(() => [''])]);
    expect(`${ready}${errors}`).toContain('ready\n');
    if (how === 'signal' || how === 'handled') child.kill('SIGTERM');
    const alarm = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const [code, signal] = await ended;
    clearTimeout(alarm);
    expect(code ?? signal, errors).toBe(ends[how]);
  },
);
