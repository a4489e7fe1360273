/** `npx lostlock explore` as its users run it: what it refuses, Ctrl-C, workers, shards, and the tests that it writes. */
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.ts';
import { until } from '../support/until.ts';

const project = mkdtempSync(join(tmpdir(), 'lostlock-explore-'));
const cli = resolve('dist/cli.js');

/** A lock that a stall breaks; with \`fenced\`, the resource keeps two holders apart. */
const source = (fenced: boolean): string => `
  const client = async ({ name, redis, sleep, resource }) => {
    while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(20);
    const inside = resource('stock').enter(${fenced ? "{ fence: await redis.incr('fence') }" : ''});
    await sleep(40);
    inside.write();
    inside.leave();
    if ((await redis.get('lock')) === name) await redis.del('lock');
  };
  export const stock = {
    name: 'stock lock', client, clients: 2, faults: ['client-pause'],
    promises: ['mutual-exclusion'], budget: { worlds: 60, ms: Infinity },
  };
`;

function node(...args: string[]): SpawnSyncReturns<string> {
  // A test runner that runs in a test of another one would take the settings of that one.
  const { NODE_TEST_CONTEXT: _, VITEST: __, GITHUB_ACTIONS: ___, ...env } = process.env;
  return spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', env });
}

const run = (...args: string[]): SpawnSyncReturns<string> => node(cli, 'explore', ...args);

beforeAll(async () => {
  await ensureBuilt();
  mkdirSync(join(project, 'node_modules'));
  for (const name of ['ioredis', 'vitest'])
    symlinkSync(resolve('node_modules', name), join(project, 'node_modules', name), 'junction');
  symlinkSync(resolve('.'), join(project, 'node_modules', 'lostlock'), 'junction');
  writeFileSync(join(project, 'stock.explore.mjs'), source(false));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('what is wrong is said in one line, and the status is 2', () => {
  writeFileSync(
    join(project, 'wrong.explore.mjs'),
    "export const wrong = { name: 'w', client() {}, faults: ['clock-jmp'] };",
  );
  writeFileSync(join(project, 'idle.explore.mjs'), "export const idle = { name: 'idle', client() {} };");
  writeFileSync(join(project, 'a.json'), '{}');
  for (const [args, message] of [
    [['wrong.explore.mjs'], /^lostlock: option faults is 'clock-jmp'; allowed: .*did you mean clock-jump/],
    [['wrong.explore.mjs', '--workers', '2'], /^lostlock: option faults is 'clock-jmp'/],
    [['idle.explore.mjs'], /^idle: without any fault, no client entered a resource/],
    [['nowhere.explore.mjs'], /^there is no file nowhere.explore.mjs/],
    [['stock.explore.mjs', '--worker', '2'], /^there is no option --worker; did you mean --workers\?$/m],
    [['stock.explore.mjs', '--replay', 'x', '--worlds', '2'], /^--worlds does nothing with --replay/],
    [['stock.explore.mjs', '--replay', 'x'], /^stock lock: lostlock: option replay is 'x'/],
    [[], /^explore needs a file; lostlock explore --help lists the options$/m],
    [['stock.explore.mjs', '--workers', '257'], /^--workers 257: must be a whole number from 1 to 256/],
    [['--merge', 'a.json'], /^--merge a.json: not a report that --json wrote/],
    ...['json', 'junit', 'timeline'].map((flag) => {
      const replay = flag === 'timeline' ? ['--replay', 'x'] : [];
      const args = ['stock.explore.mjs', ...replay, `--${flag}`, 'a.json/sub/x.json'];
      return [args, new RegExp(`^--${flag} a.json/sub/x.json: cannot mkdir .*(ENOTDIR|EEXIST)`)] as const;
    }),
    [['stock.explore.mjs', '--json', '.'], /^--json \.: is a folder$/m],
    [['stock.explore.mjs', '--out', 'a.json'], /^--out a.json: cannot mkdir .*a.json: file already exists/],
  ] as const) {
    const { stderr, status } = run(...args);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(2);
  }
  writeFileSync(join(project, 'boom.explore.mjs'), "throw new Error('boom');");
  const { stderr, status } = run('boom.explore.mjs');
  expect(stderr).toMatch(/^boom.explore.mjs cannot be loaded: Error: boom\n +at /);
  expect(stderr).not.toContain('node:internal');
  expect(status).toBe(2);
});

test('several processes play as many worlds as were asked for', () => {
  const { stdout } = run('stock.explore.mjs', '--workers', '3', '--worlds', '7');
  expect(stdout).toMatch(/^stock lock: \d findings? in 7 worlds/);
});

test('the tests that are written fail as long as the promise breaks, and pass once it holds', () => {
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  const findings = join(project, 'out', 'findings');
  const texts = ['vitest', 'node'].map((runner) => {
    writeFileSync(join(project, 'stock.explore.mjs'), source(false));
    const explored = run('stock.explore.mjs', '--out', 'out', '--runner', runner);
    expect(explored.stdout).toMatch(/stock lock: 1 finding in 60 worlds[\s\S]*mutual-exclusion is broken/);
    expect(explored.status).toBe(1);
    const [file = ''] = readdirSync(findings).filter((name) => name.endsWith('.test.mjs'));
    const path = join(findings, file);
    const play = (): SpawnSyncReturns<string> =>
      runner === 'node' ? node('--test', path) : node(vitest, 'run', '--root', project, file);
    const broken = play();
    expect(broken.stdout + broken.stderr).toContain('B entered stock while A was still inside');
    expect(broken.status).toBe(1);
    writeFileSync(join(project, 'stock.explore.mjs'), source(true));
    expect(play().status).toBe(0);
    return readFileSync(path, 'utf8');
  });
  expect(texts[0]).toContain("from 'vitest'");
  expect(texts[1]).toContain("from 'node:test'");
  writeFileSync(join(project, 'stock.explore.mjs'), source(false));
}, 240_000);

test('the reports of two machines merge into the report of one', () => {
  const [first] = [1, 2].map((shard) =>
    run('stock.explore.mjs', '--shard', `${shard}/2`, '--json', `parts/${shard}.json`),
  );
  // It ends with what to type next.
  expect(first?.stdout).toMatch(
    /\ndraw the first one: +npx lostlock explore stock\.explore\.mjs --replay '2:\S+' --timeline world\.html\n.*--last\n.*help failures\n$/,
  );
  const merged = run(
    'stock.explore.mjs',
    '--merge',
    'parts/1.json,parts/2.json',
    '--out',
    'merged',
    '--junit',
    'j.xml',
  );
  // A stall while a client is inside, and one before it learns of its grant: two defects of one cause.
  expect(merged.stdout).toMatch(/stock lock: 2 findings in 120 worlds/);
  expect(merged.status).toBe(1);
  expect(readFileSync(join(project, 'j.xml'), 'utf8')).toContain('mutual-exclusion (client-pause)');
  expect(readFileSync(join(project, 'merged', 'index.html'), 'utf8')).toMatch(
    /src="findings\/stock-stock-lock-1-mutual-exclusion-client-pause\.html"/,
  );
  const files = readdirSync(join(project, 'merged', 'findings')).map((name) => name.replace(/.*?\./, ''));
  expect(files.sort()).toEqual(['html', 'jsonl', 'test.mjs', 'txt'].flatMap((kind) => [kind, kind]));
  const half = run('stock.explore.mjs', '--merge', 'parts/1.json');
  expect([half.stderr, half.status]).toEqual([
    '--merge: stock lock: this is shard 1 of 2; the others are missing\n',
    2,
  ]);
  const [replay = ''] = /2:1:0:A,B:client-pause@\S+/.exec(merged.stdout) ?? [];
  const again = run('stock.explore.mjs', '--replay', replay);
  expect(again.stdout).toMatch(/^stock lock: mutual-exclusion is broken\n/);
  expect(again.status).toBe(1);
});

test.each(['1', '2'])(
  'Ctrl-C ends every exploration of a file, and reports what there is (%s processes)',
  async (workers) => {
    writeFileSync(
      join(project, 'two.explore.mjs'),
      `${source(false)} export const twin = { ...stock, name: 'twin lock' };`,
    );
    const child = spawn(
      process.execPath,
      [cli, 'explore', 'two.explore.mjs', '--worlds', '1000000', '--progress', '--workers', workers],
      { cwd: project },
    );
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        output[name] += String(chunk);
      });
    while (!/[1-9] findings?\b/.test(output.stderr)) await once(child.stderr, 'data');
    expect(output.stderr).toMatch(
      /stock lock \[\.{20}\] \d+ worlds?, \d+\/s, \d+ states?, 1 kind of faults, \d findings?/,
    );
    child.kill('SIGINT');
    const [status] = await once(child, 'close');
    expect(output.stdout).toMatch(
      /stock lock: \d findings? in \d+ worlds .*stopped early\n[\s\S]*replay: 2:1:0/,
    );
    expect(output.stdout).toMatch(/twin lock: \d findings? in \d+ worlds? .*stopped early/);
    expect(status).toBe(1);
  },
);

test('Ctrl-C while the processes start prints no stack trace, whether they are loading the file or have not begun', async () => {
  const hang = (what: string): string =>
    `if (process.env.LOSTLOCK_EXPLORE_WORKER) { console.error(${JSON.stringify(what)}); await new Promise((done) => setTimeout(done, 60_000)); }`;
  writeFileSync(join(project, 'hang.mjs'), hang('a process starts'));
  writeFileSync(join(project, 'loading.explore.mjs'), `${hang('the file loads')} ${source(false)}`);
  for (const [options, sign] of [
    ['--import ./hang.mjs', 'a process starts'],
    ['', 'the file loads'],
  ] as const) {
    const child = spawn(process.execPath, [cli, 'explore', 'loading.explore.mjs', '--workers', '2'], {
      ...{ cwd: project, detached: true },
      env: { ...process.env, NODE_OPTIONS: options },
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
    await until(() => printed.split(sign).length === 3, { what: sign, limitMs: 50_000 });
    process.kill(-(child.pid as number), 'SIGINT'); // As a terminal does: to all processes of the group.
    const [status] = await once(child, 'close');
    expect(printed.replaceAll(`${sign}\n`, '')).toMatch(
      /^stock lock: 0 findings in 0 worlds \(0\.0 s\), stopped early, inconclusive\n/,
    );
    expect(printed).not.toMatch(/\n +at |Error/);
    expect(status).toBe(3);
  }
}, 120_000);

test('under a debugger, one process plays the worlds, so that breakpoints in the code of clients stop it', () => {
  writeFileSync(
    join(project, 'debugged.explore.mjs'),
    `console.log('loaded by ' + process.pid); ${source(true)}`,
  );
  const loads = (flags: readonly string[]): number => {
    const { stdout, status } = node(...flags, cli, 'explore', 'debugged.explore.mjs');
    expect(status).toBe(3); // Sixty worlds are not all that have one fault.
    return new Set(stdout.match(/loaded by \d+/g)).size;
  };
  expect(loads(['--inspect=0'])).toBe(1);
  expect(loads([])).toBe(2);
});

test("V8's flags for worlds leave out those in NODE_OPTIONS", () => {
  writeFileSync(
    join(project, 'flags.explore.mjs'),
    `console.log('flags: ' + process.execArgv.join(' ')); ${source(true)}`,
  );
  const env = { ...process.env, NODE_OPTIONS: '--max-semi-space-size=16' };
  const args = [cli, 'explore', 'flags.explore.mjs'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', env });
  expect(stdout).toContain('--min-semi-space-size=');
  expect(stdout).not.toContain('--max-semi-space-size=');
});

test('workers end when the process that started them is killed', async () => {
  const file = join(project, 'pids.txt');
  // Loaded once a process: the file itself is loaded for each client, whose process has a number of its own.
  writeFileSync(
    join(project, 'note.mjs'),
    "import { appendFileSync } from 'node:fs'; appendFileSync('pids.txt', process.pid + '\\n');",
  );
  writeFileSync(join(project, 'orphans.explore.mjs'), source(false));
  const child = spawn(
    process.execPath,
    [cli, 'explore', 'orphans.explore.mjs', '--worlds', '1000000', '--workers', '2'],
    { cwd: project, stdio: 'ignore', env: { ...process.env, NODE_OPTIONS: '--import ./note.mjs' } },
  );
  const pids = (): number[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  await until(() => pids().length === 3, { what: 'two workers', limitMs: 50_000 });
  child.kill('SIGKILL');
  const isGone = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  await until(() => pids().every(isGone), { what: 'the end of the workers', limitMs: 50_000 });
  expect(pids().filter((pid) => !isGone(pid))).toEqual([]);
}, 120_000);

/** A lock whose clients end the process when a connection breaks, as code does that has lost its lock. */
// process.exit ends the client alone. This ends the process, as the crash of a native module does.
const ending = (name: string): string => `
  ${source(false)}
  const leading = async (session) => {
    session.redis.on('close', () => session.signal.aborted || process.reallyExit(3));
    await client(session);
  };
  export const leader = { ...stock, name: ${JSON.stringify(name)}, client: leading, faults: ['client-pause', 'connection-reset'] };
`;

test('a process that ends in the middle of a world costs no finding, and the world is named', () => {
  writeFileSync(join(project, 'leader.explore.mjs'), ending('leader'));
  const { stdout, stderr, status } = run('leader.explore.mjs', '--workers', '2', '--out', 'ended');
  expect(stdout).toMatch(/^leader: \d findings? in \d+ worlds .*stopped early\n/);
  expect(stdout).toMatch(/\nstock lock: 1 finding in 60 worlds/);
  expect(stdout).toMatch(
    /leader: no-error is broken: this world was not played to its end: its process ended with status 3\n.*\n+replay: [12]:1:0:A,B:connection-reset@\S+:0{12}/,
  );
  expect([stderr, status]).toEqual(['', 1]);
  const written = readdirSync(join(project, 'ended', 'findings'));
  expect(written.filter((name) => /leader-\d-no-error-[\w-]+\.(txt|test\.mjs)$/.test(name))).toHaveLength(2);
});

test('an exploration that cannot be played costs the others of its file nothing', () => {
  writeFileSync(
    join(project, 'some.explore.mjs'),
    `${source(false)} export const idle = { name: 'idle', client() {} };`,
  );
  const { stdout, stderr, status } = run('some.explore.mjs', '--junit', 'some.xml');
  expect(stdout).toMatch(/^stock lock: 1 finding in 60 worlds/);
  expect(stderr).toMatch(/^idle: without any fault, no client entered a resource.*\n$/);
  expect(status).toBe(2);
  expect(readFileSync(join(project, 'some.xml'), 'utf8')).toContain('stock lock');
});
