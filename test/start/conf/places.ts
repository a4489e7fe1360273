/** Where a server looks for its files: situations that are recorded from real servers and played on ours. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { RawClient } from '../../support/raw-client.ts';
import { freePort, removeFolder } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

/** Where the recording is. */
export const PLACES_FILE = 'test/golden/places.json';

/** A configuration file, and what is asked of the server that was started with it. */
export interface PlacesCase {
  readonly name: string;
  readonly lines: readonly string[];
  readonly requests?: readonly string[];
}

/** What a server did. ROOT is the directory in which it was started. */
export interface PlacesOutcome {
  /** Why it did not start; absent if it did. */
  readonly error?: string;
  readonly replies?: readonly string[];
  /** The files that it has made. */
  readonly files?: readonly string[];
}

/** The files and folders of the directory in which each server is started. */
const FOLDERS = ['a/b', 'c', 'inc', 'inc/3.conf'];
const FILES: Readonly<Record<string, string>> = {
  file: '',
  'inc/1.conf': 'maxclients 100',
  'inc/2.conf': 'hz 20',
  'inc/.hidden.conf': 'hz 30',
  'inc/other': 'hz 40',
  'late.conf': 'databases 7',
  'a/late.conf': 'databases 5',
};

const CHANGING = ['enable-protected-configs yes', 'dir a'];

export const PLACES_CASES: readonly PlacesCase[] = [
  {
    name: 'what comes after a dir line is taken from there, and files from the last one',
    lines: [
      'logfile l.log',
      'unixsocket u.sock',
      'pidfile p.pid',
      'appendonly yes',
      'include inc/[12]*.con?',
      'dir a',
      'include late.conf',
      'dir b',
    ],
    requests: [
      'CONFIG GET hz',
      'CONFIG GET maxclients',
      'CONFIG GET databases',
      'CONFIG GET dir',
      'CONFIG GET logfile',
      'CONFIG GET unixsocket',
      'CONFIG GET pidfile',
      'SET k v',
      'SAVE',
    ],
  },
  {
    name: 'an include above a dir line',
    lines: ['include late.conf', 'dir a'],
    requests: ['CONFIG GET databases'],
  },
  { name: 'a dir line that goes up', lines: ['dir a/b', 'dir ../../c'], requests: ['CONFIG GET dir'] },
  {
    name: 'wildcards: no hidden files, folders are empty',
    lines: ['include inc/*.conf'],
    requests: ['CONFIG GET hz'],
  },
  { name: 'wildcards in a folder', lines: ['include in?/1.*'], requests: ['CONFIG GET maxclients'] },
  { name: 'a set that excludes', lines: ['include inc/[!1-2.]*'], requests: ['CONFIG GET hz'] },
  { name: 'wildcards that fit nothing', lines: ['include inc/*.nothing'], requests: ['PING'] },
  { name: 'an include of a folder', lines: ['include inc'], requests: ['PING'] },
  { name: 'an include that is missing', lines: ['include inc/none.conf'] },
  { name: 'a dir that is missing', lines: ['dir nowhere'] },
  { name: 'a dir that is a file', lines: ['dir file'] },
  { name: 'an empty dir', lines: ['dir ""'] },
  { name: 'a log file that cannot be written', lines: ['logfile none/l.log', 'dir a'] },
  {
    name: 'a dump file in a folder',
    lines: ['dbfilename a/b.rdb'],
  },
  {
    name: 'CONFIG SET dir',
    lines: CHANGING,
    requests: [
      'CONFIG SET dir nowhere',
      'CONFIG SET dir ../file',
      'CONFIG SET dir ',
      'CONFIG GET dir',
      'CONFIG SET dir b',
      'CONFIG GET dir',
      'SET k v',
      'SAVE',
      'CONFIG SET dir .. dbfilename x.rdb',
      'CONFIG GET dir',
      'SAVE',
      'CONFIG SET dir b hz bad',
      'CONFIG GET dir',
      'CONFIG SET dbfilename a/b',
      'CONFIG SET dir b dir b',
    ],
  },
  {
    name: 'the log follows CONFIG SET dir, the append-only file that is open stays',
    lines: [...CHANGING, 'enable-debug-command yes', 'logfile l.log', 'appendonly yes'],
    requests: ['CONFIG SET dir b', 'SET k v', 'SAVE', 'DEBUG LOG line'],
  },
  {
    name: 'dir is protected',
    lines: ['dir a'],
    requests: ['CONFIG SET dir b', 'CONFIG SET dbfilename x.rdb'],
  },
  {
    name: 'dir is protected from other machines',
    lines: ['enable-protected-configs local'],
    requests: ['CONFIG SET dir a', 'CONFIG GET dir', 'CONFIG SET enable-protected-configs yes'],
  },
];

/** The last of what a server prints when it does not start. */
function errorIn(printed: string): string {
  return /(>>> [\s\S]*|can't open [^\n]*)/i.exec(printed)?.[1]?.trim() ?? printed;
}

function filesIn(root: string): string[] {
  const made = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => relative(root, join(each.parentPath, each.name)));
  return made.filter((name) => !(name in FILES) && name !== 'redis.conf').sort();
}

/**
 * Starts a server with the lines as its file, in a new directory, and asks it the requests.
 * @param command the program and its first arguments; the file's name is added, then `more`
 */
export async function playPlaces(
  { lines, requests = [] }: PlacesCase,
  [program, ...first]: readonly [string, ...string[]],
  more: readonly string[] = [],
): Promise<PlacesOutcome> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'lostlock-places-')));
  for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), `${text}\n`);
  const port = await freePort();
  writeFileSync(join(root, 'redis.conf'), [`port ${port}`, 'save ""', ...lines, ''].join('\n'));
  const child = spawn(program, [...first, 'redis.conf', ...more], { cwd: root });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const dial = (): Promise<RawClient | undefined> => RawClient.connect({ port }).catch(() => undefined);
  try {
    let client: RawClient | undefined;
    await until(async () => child.exitCode !== null || (client = await dial()) !== undefined, {
      what: 'the start',
      limitMs: 60_000,
    });
    if (client === undefined) {
      await ended;
      return { error: errorIn(printed).replaceAll(root, 'ROOT') };
    }
    const replies: string[] = [];
    for (const request of requests) {
      const { raw } = await client.ask(...(request.split(' ') as [string]));
      // The length of a path in the folder of this run is another one.
      replies.push(
        `${request}: ${raw
          .replaceAll(root, 'ROOT')
          .replace(/\$\d+\r\n/g, '')
          .trim()}`,
      );
    }
    return { replies, files: filesIn(root) };
  } finally {
    child.kill('SIGKILL');
    await ended;
    await removeFolder(root);
  }
}
