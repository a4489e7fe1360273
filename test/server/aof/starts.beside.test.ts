/** Starts from whole, torn, damaged and incomplete append-only files, beside redis-server: what is loaded, logged and refused. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeRequest } from '../../../protocol/encode.ts';
import { sampleOf } from '../../support/long.ts';
import { findProgram, hasRedisServer } from '../../support/redis-server.ts';
import { scratch, startOurs } from './sides.ts';

const MANIFEST = 'appendonlydir/appendonly.aof.manifest';
const BASE = 'appendonlydir/appendonly.aof.1.base.rdb';
const INCREMENT = 'appendonlydir/appendonly.aof.1.incr.aof';
const FILES = 'file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n';
const SETS = [
  ['SELECT', '0'],
  ['SET', 'a', '1'],
  ['SET', 'b', '2'],
]
  .map(encodeRequest)
  .join('');
const HALF = '*3\r\n$3\r\nSET\r\n$1\r\nc';
const NEWER = 'file appendonly.aof.2.incr.aof seq 2 type i\n';

/** An empty dataset as redis-server 7.0 writes it, without a checksum. */
const EMPTY = `REDIS0010${'\xfa'}\x09redis-ver\x067.0.15${'\xff'}${'\0'.repeat(8)}`;

/** Files by path, beside a manifest, an empty base and an increment with two keys. */
const CASES: Record<string, Record<string, string | undefined>> = {
  'whole files': {},
  'half a command at the end': { [INCREMENT]: SETS + HALF },
  'half a header at the end': { [INCREMENT]: `${SETS}*3\r\n$` },
  'a transaction without EXEC': {
    [INCREMENT]: SETS + encodeRequest(['MULTI']) + encodeRequest(['SET', 'c', '1']),
  },
  'half a command before another increment': {
    [MANIFEST]: FILES + NEWER,
    [INCREMENT]: SETS + HALF,
    'appendonlydir/appendonly.aof.2.incr.aof': SETS,
  },
  'text between commands': { [INCREMENT]: `${SETS}hello\r\n${SETS}` },
  'a length that is no number': { [INCREMENT]: `${SETS}*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$x\r\nd\r\n${SETS}` },
  'a command without words': { [INCREMENT]: `${SETS}*0\r\n${SETS}` },
  'zeros at the end': { [INCREMENT]: SETS + '\0'.repeat(20) },
  'an unknown command': { [INCREMENT]: SETS + encodeRequest(['NOSUCH', 'x']) },
  'an unknown subcommand': { [INCREMENT]: SETS + encodeRequest(['XGROUP', 'NOSUCH', 'x']) },
  'a command that fails': { [INCREMENT]: SETS + encodeRequest(['LPUSH', 'a', 'x']) },
  'a database that does not exist': { [INCREMENT]: encodeRequest(['SELECT', '99']) + SETS },
  timestamps: { [INCREMENT]: `#TS:1600000000\r\n${SETS}#TS:1600000001\r\n` },
  'an expired key that a later command keeps': {
    [INCREMENT]: [
      ['SET', 'k', 'v', 'PXAT', '1600000000000'],
      ['PERSIST', 'k'],
      ['SET', 'l', 'v', 'PXAT', '1600000000000'],
    ]
      .map(encodeRequest)
      .join(''),
  },
  'no base file': { [BASE]: undefined },
  'no increment file': { [INCREMENT]: undefined },
  'an empty base file and an empty increment': { [BASE]: '', [INCREMENT]: '' },
  'a base of commands': {
    [MANIFEST]: FILES.replace('.rdb', '.aof'),
    [BASE]: undefined,
    [BASE.replace('.rdb', '.aof')]: SETS,
    [INCREMENT]: encodeRequest(['INCR', 'a']),
  },
  'an empty manifest': { [MANIFEST]: '' },
  'an empty line in the manifest': { [MANIFEST]: `\n${FILES}` },
  'a manifest with a missing field': { [MANIFEST]: FILES.replace(' type b', ' type') },
  'a manifest without its last line feed': { [MANIFEST]: FILES.slice(0, -1) },
  'a comment in the manifest': { [MANIFEST]: `# hello\n${FILES}` },
  'a manifest with a long line': { [MANIFEST]: `file ${'x'.repeat(1100)} seq 1 type b\n` },
  'a manifest with a path': { [MANIFEST]: FILES.replace('file app', 'file ../app') },
  'a manifest with two bases': { [MANIFEST]: `${FILES}file appendonly.aof.3.base.rdb seq 3 type b\n` },
  'a manifest out of order': { [MANIFEST]: `${FILES}file appendonly.aof.1.incr.aof seq 1 type i\n` },
  'a manifest with an unknown type': { [MANIFEST]: FILES.replace('type i', 'type z') },
  'a manifest with the number 0': { [MANIFEST]: FILES.replace('seq 1', 'seq 0') },
  'a manifest with further fields': { [MANIFEST]: FILES.replace('type i', 'type i startoffset 7 foo bar') },
  'a manifest with quotes': {
    [MANIFEST]: FILES.replace('appendonly.aof.1.incr.aof', '"appendonly.aof.1.incr.aof"'),
  },
  'a file that a rewrite has replaced': {
    [MANIFEST]: `${FILES}file old.aof seq 1 type h\n`,
    'appendonlydir/old.aof': 'x',
  },
  'no manifest': { [MANIFEST]: undefined },
  'nothing but a dump file': {
    [MANIFEST]: undefined,
    [BASE]: undefined,
    [INCREMENT]: undefined,
    'dump.rdb': EMPTY,
  },
  'the single file of older versions': {
    [MANIFEST]: undefined,
    [BASE]: undefined,
    [INCREMENT]: undefined,
    'appendonly.aof': EMPTY + SETS,
  },
};

function write(folder: string, files: Record<string, string | undefined>): void {
  const all = { [MANIFEST]: FILES, [BASE]: EMPTY, [INCREMENT]: SETS, ...files };
  for (const [name, content] of Object.entries(all)) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, 'latin1');
  }
}

/** The files that a start leaves, with their lengths, the text of the manifest, and without the contents of dumps. */
function left(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => {
      const text = readFileSync(join(folder, name), 'latin1');
      if (name.endsWith('manifest')) return text;
      return `${name} ${text.includes('aof-base') ? 'written' : text.length}`;
    });
}

/** What both servers log alike: neither how long it took, nor what redis-server says about the dump that it reads. */
function comparable(lines: readonly string[]): string[] {
  return lines
    .join('\n')
    .split('\n')
    .map((line) => line.replace(/: [\d.]+ seconds$/, ''))
    .filter((line) =>
      /AOF|append only|DB loaded|CRITICAL|Fatal|Reading the manifest|>>>|Found|File can|Unknown/.test(line),
    )
    .filter((line) => !/^RDB is|Loading RDB/.test(line));
}

interface Start {
  readonly keys: string | undefined;
  readonly log: string[];
  readonly files: string[];
}

async function startOwn(folder: string, settings: Record<string, boolean>): Promise<Start> {
  const log: string[] = [];
  let keys: string | undefined;
  try {
    await using side = await startOurs(folder, 'redis-7.0', settings, log);
    keys = (await side.ask('SORT nothing', 'KEYS *'))[1];
    // The keys in an order that does not depend on the server.
    keys = [...(keys ?? '').matchAll(/"(\w+)"/g)]
      .map(([, key]) => key)
      .sort()
      .join(' ');
  } catch (error) {
    expect(String(error)).toContain('lostlock: the append-only file cannot be loaded: ');
  }
  return { keys, log: comparable(log), files: left(folder) };
}

/** Starts redis-server on the folder, and stops it with a request on its standard input when it is ready. */
function startReal(folder: string, settings: readonly string[]): Start {
  const socket = join(folder, 'socket');
  const script = `redis-server --port 0 --unixsocket ${socket} --dir ${folder} --save '' --appendonly yes ${settings.join(' ')} & p=$!
    while kill -0 $p 2>/dev/null; do
      keys=$(redis-cli -s ${socket} --no-raw KEYS '*' 2>/dev/null) && case $keys in *LOADING*|*refused*|*"No such"*) ;; *)
        echo "KEYS $keys" | tr '\\n' ' '; echo; kill -9 $p; break;; esac
      sleep 0.01
    done; wait $p`;
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'latin1' });
  const lines = stdout.split('\n').map((line) => line.replace(/^\d+:\w .*? \d\d:\d\d:\d\d\.\d+ [#*] /, ''));
  const answer = lines.find((line) => line.startsWith('KEYS '));
  const keys =
    answer &&
    [...answer.matchAll(/"(\w+)"/g)]
      .map(([, key]) => key)
      .sort()
      .join(' ');
  return {
    keys,
    log: comparable(lines.filter((line) => line !== answer)),
    files: left(folder).filter((name) => !/^socket/.test(name)),
  };
}

test.skipIf(!hasRedisServer || findProgram('redis-cli') === undefined)(
  'a start loads, logs, mends and refuses as redis-server does (needs redis-server and redis-cli)',
  async () => {
    const all = Object.entries(CASES);
    for (const [title, files] of all.slice(0, sampleOf(all.length, 12))) {
      for (const truncates of title.includes('half a command at') ? [true, false] : [true]) {
        using folder = scratch();
        write(folder.folder, files);
        using twin = scratch();
        cpSync(folder.folder, twin.folder, { recursive: true });
        const own = await startOwn(folder.folder, { 'aof-load-truncated': truncates });
        const real = startReal(twin.folder, ['--aof-load-truncated', truncates ? 'yes' : 'no']);
        expect({ title, ...own }).toEqual({ title, ...real });
      }
    }
  },
  60_000,
);

test('half a transaction is taken back whole, so that later writes are not lost with it', async () => {
  using here = scratch();
  write(here.folder, {
    [INCREMENT]: SETS + encodeRequest(['MULTI']) + encodeRequest(['SET', 'c', '1']) + HALF,
  });
  {
    await using side = await startOurs(here.folder);
    expect(await side.ask('GET a', 'EXISTS c', 'SET later 1')).toEqual(['"1"', ':0', '+OK']);
  }
  await using side = await startOurs(here.folder);
  expect(await side.ask('GET a', 'EXISTS c', 'GET later')).toEqual(['"1"', ':0', '"1"']);
});

test('a folder without appendonly is left alone', async () => {
  using here = scratch();
  await using side = await startOurs(here.folder, 'redis-7.0', { appendonly: false });
  expect(await side.ask('SET k v')).toEqual(['+OK']);
  expect(existsSync(join(here.folder, 'appendonlydir'))).toBe(false);
});
