/**
 * Explorations of programs that are killed at a random moment, by a signal to the engine, to the process that runs it, or to a client:
 * afterwards no process, port or temporary folder is left. `npm run test:beside` plays a few of them; `npm run test:long` 100.
 * (needs python3)
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Random } from '../../../lab/time/random.ts';
import { ensureBuilt } from '../../support/built.ts';
import { sampleOf } from '../../support/long.ts';
import { findProgram } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const WORKER = join(import.meta.dirname, 'worker.py');
const CLI = join(import.meta.dirname, '../../../dist/cli.js');
const RUNS = sampleOf(100, 3);
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const;
const VICTIMS = ['engine', 'runner', 'client', 'stopped client'] as const;
/** A runner: it starts the engine, as pytest does, and ends with it. */
const RUNNER = `
const { spawn } = require('node:child_process');
const [program, ...words] = process.argv.slice(1);
const engine = spawn(program, words, { stdio: ['pipe', 'ignore', 'ignore'] });
engine.on('exit', () => process.exit(0));
for (const sign of ['SIGINT', 'SIGTERM']) process.on(sign, () => process.exit(1));
`;

interface Listed {
  readonly pid: number;
  readonly state: string;
  readonly text: string;
}

/** The processes whose command line has this text. */
function processesWith(text: string): Listed[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return listed.flatMap((line) => {
    const found = /^ *(\d+) +(\S+) +(.*)$/.exec(line);
    return found?.[3]?.includes(text) === true
      ? [{ pid: Number(found[1]), state: found[2] ?? '', text: found[3] }]
      : [];
  });
}

/** The TCP ports at which a process listens. */
function portsOf(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [execFileSync('readlink', [`/proc/${pid}/fd/${name}`], { encoding: 'utf8' }).trim()];
      } catch {
        return [];
      }
    }),
  );
  return listening().flatMap(({ port, socket }) => (sockets.has(`socket:[${socket}]`) ? [port] : []));
}

function listening(): { port: string; socket: string }[] {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines.flatMap((line) => {
    const words = line.trim().split(/\s+/);
    return words[3] === '0A' ? [{ port: words[1] ?? '', socket: words[9] ?? '' }] : [];
  });
}

/** The folders of lostlock for temporary files, without the code that V8 has compiled, which is kept for the next process. */
const foldersIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('lostlock-') && !name.startsWith('lostlock-code-'));

const kill = (pid: number, sign: NodeJS.Signals): void => {
  try {
    process.kill(pid, sign);
  } catch {
    // It has ended already.
  }
};

describe.skipIf(findProgram('python3') === undefined || process.platform !== 'linux')(
  'explorations of programs that are killed (needs python3)',
  () => {
    beforeAll(() => ensureBuilt(), 240_000);
    const random = new Random(Number(process.env.LOSTLOCK_SEED ?? 49), 'kills');
    const cases = Array.from({ length: RUNS }, (_, run) => ({
      run,
      victim: VICTIMS[run % VICTIMS.length] as (typeof VICTIMS)[number],
      sign: random.pick([...SIGNALS]),
      after: Math.round(random.next() * 4000),
    }));

    test.each(cases)(
      'run $run: $sign to the $victim, $after ms after the clients began, leaves nothing',
      { timeout: 240_000 },
      async ({ run, victim, sign, after }) => {
        const mark = `killed-${process.pid}-${run}`;
        // A place of its own: other tests have temporary folders at the same time.
        const TMPDIR = mkdtempSync(join(tmpdir(), 'killed-'));
        onTestFinished(() => rmSync(TMPDIR, { recursive: true, force: true }));
        const words = [
          CLI,
          'explore',
          '--exit-with-parent',
          '--ms',
          '100000',
          '--lease',
          '1500',
          '--faults',
          'client-pause',
        ];
        const runner: ChildProcess = spawn(
          process.execPath,
          ['-e', RUNNER, process.execPath, ...words, '--', 'python3', WORKER, 'stock', mark],
          { stdio: 'ignore', env: { ...process.env, TMPDIR } },
        );
        const gone = once(runner, 'exit');
        // Its engine ends with it, whatever happens to this test.
        onTestFinished(() => kill(runner.pid as number, 'SIGKILL'));
        const clients = (): Listed[] =>
          processesWith(`${WORKER} stock ${mark}`).filter(({ text }) => /^\S*python\S* /.test(text));
        await until(() => clients().length > 2);
        const engine = processesWith(mark).find(({ text }) => text.startsWith(`${process.execPath} ${CLI}`));
        const moment = performance.now() + after;
        await until(() => performance.now() >= moment);
        const ports = engine === undefined ? [] : portsOf(engine.pid);
        expect(ports.length).toBeGreaterThan(0);
        if (victim === 'engine') kill(engine?.pid as number, sign);
        else if (victim === 'runner') kill(runner.pid as number, sign);
        else {
          // A client that is killed is replaced, and the exploration goes on: it is ended as a user does.
          const isWanted = ({ state }: Listed): boolean => victim === 'client' || state.startsWith('T');
          await until(() => clients().some(isWanted));
          const pid = clients().find(isWanted)?.pid as number;
          kill(pid, sign);
          await until(() => !clients().some((each) => each.pid === pid));
          kill(engine?.pid as number, 'SIGINT');
        }
        await gone;
        await until(() => processesWith(mark).length === 0, { what: 'the end of every process' });
        expect(listening().map(({ port }) => port)).not.toEqual(expect.arrayContaining(ports));
        expect(foldersIn(TMPDIR)).toEqual([]);
      },
    );
  },
);
