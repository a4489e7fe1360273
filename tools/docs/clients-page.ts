/** The text of docs/clients.md: the clients and lock libraries that the tests run, with the versions that their manifests name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Where versions are named, and how. */
const manifests: Readonly<Record<string, (name: string) => RegExp>> = {
  'package.json': (name) => new RegExp(`"${name}": "(?:npm:[^"]*@)?([^"@]+)"`),
  'bench/libraries/package.json': (name) => new RegExp(`"${name}": "(?:npm:[^"]*@)?([^"@]+)"`),
  'test/clients/languages/python/requirements.txt': (name) => new RegExp(`^${name}==(.*)$`, 'm'),
  'test/clients/languages/go/go.mod': (name) => new RegExp(`^\\s*${name} v(\\S+)$`, 'm'),
  'test/clients/languages/java/pom.xml': (name) =>
    new RegExp(`<artifactId>${name}</artifactId>\\s*<version>([^<]+)<`),
  'test/clients/redisson/pom.xml': (name) =>
    new RegExp(`<artifactId>${name}</artifactId>\\s*<version>([^<]+)<`),
};

/** A client, where its version is named, and the tests that run it. */
interface Client {
  readonly name: string;
  readonly manifest: string;
  /** Its name there, if it is another one. */
  readonly known?: string;
  readonly runs: readonly string[];
  readonly what: string;
}

const languages = 'test/clients/languages/run.ts';
const both = 'alone, behind Sentinels and in a cluster: the same replies as from redis-server';
const locks = 'test/clients/lock-libraries.realtime.beside.test.ts';
const zoo = 'bench/libraries/zoo.ts';

/** In the order of the page: clients first. */
const clients: readonly Client[] = [
  {
    name: 'ioredis 6',
    manifest: 'package.json',
    known: 'ioredis',
    runs: [
      'test/start/running/transports.realtime.test.ts',
      'test/clients/cluster.realtime.test.ts',
      'test/clients/cluster-tls.realtime.test.ts',
      'test/lab/virtual/clients.test.ts',
    ],
    what: 'over TCP and in memory; in a cluster, also with TLS; in worlds of the lab',
  },
  {
    name: 'ioredis 5',
    manifest: 'package.json',
    known: 'ioredis5',
    runs: ['test/start/running/transports.realtime.test.ts', 'test/lab/virtual/clients.test.ts'],
    what: 'over TCP and in memory; in worlds of the lab',
  },
  {
    name: 'node-redis 6',
    manifest: 'package.json',
    known: 'redis',
    runs: ['test/clients/node-redis.realtime.test.ts', 'test/lab/virtual/clients.test.ts'],
    what: 'over TCP, RESP2 and RESP3; in worlds of the lab',
  },
  {
    name: 'node-redis 4',
    manifest: 'bench/libraries/package.json',
    known: 'redis4',
    runs: [zoo],
    what: 'under lock libraries that need it, explored',
  },
  {
    name: 'node-redis 3',
    manifest: 'bench/libraries/package.json',
    known: 'redis3',
    runs: [zoo],
    what: 'under lock libraries that need it, explored',
  },
  {
    name: 'redis-py',
    manifest: 'test/clients/languages/python/requirements.txt',
    known: 'redis',
    runs: [languages],
    what: both,
  },
  {
    name: 'go-redis',
    manifest: 'test/clients/languages/go/go.mod',
    known: 'github.com/redis/go-redis/v9',
    runs: [languages],
    what: both,
  },
  {
    name: 'Jedis',
    manifest: 'test/clients/languages/java/pom.xml',
    known: 'jedis',
    runs: [languages],
    what: both,
  },
  {
    name: 'Lettuce',
    manifest: 'test/clients/languages/java/pom.xml',
    known: 'lettuce-core',
    runs: [languages],
    what: both,
  },
  {
    name: 'Redisson',
    manifest: 'test/clients/redisson/pom.xml',
    known: 'redisson',
    runs: ['test/clients/redisson/run.ts'],
    what: 'its locks beside ours on one server, in a failover and in a cluster',
  },
  {
    name: 'redlock 5',
    manifest: 'package.json',
    known: 'redlock',
    runs: [locks, zoo],
    what: 'as a lock, and explored',
  },
  {
    name: 'redlock 4',
    manifest: 'package.json',
    known: 'redlock4',
    runs: [locks, zoo],
    what: 'as a lock, and explored',
  },
  {
    name: '@sesamecare-oss/redlock',
    manifest: 'package.json',
    runs: [locks, zoo],
    what: 'as a lock, and explored',
  },
  { name: 'redis-semaphore', manifest: 'package.json', runs: [locks, zoo], what: 'as a lock, and explored' },
  {
    name: 'python-redis-lock',
    manifest: 'test/clients/languages/python/requirements.txt',
    runs: [languages],
    what: 'as a lock',
  },
  {
    name: 'pottery',
    manifest: 'test/clients/languages/python/requirements.txt',
    runs: [languages],
    what: 'as a lock',
  },
  {
    name: 'redsync',
    manifest: 'test/clients/languages/go/go.mod',
    known: 'github.com/go-redsync/redsync/v4',
    runs: [languages],
    what: 'as a lock',
  },
  {
    name: 'redislock (Go)',
    manifest: 'test/clients/languages/go/go.mod',
    known: 'github.com/bsm/redislock',
    runs: [languages],
    what: 'as a lock',
  },
  ...[
    '@redis-kit/lock',
    'murlock',
    'node-redis-lock',
    'redis-lock',
    'redlock-universal',
    'simple-redis-mutex',
  ].map((name) => ({ name, manifest: 'bench/libraries/package.json', runs: [zoo], what: 'explored' })),
];

function versionOf({ name, manifest, known = name }: Client): string {
  const version = manifests[manifest]?.(known).exec(textOf(manifest))?.[1];
  if (version === undefined) throw new Error(`${manifest} names no version of ${known}`);
  return version;
}

/** How each file of tests is run. */
function commandOf(path: string): string {
  if (path.startsWith('test/clients/languages') || path.startsWith('test/clients/redisson'))
    return 'npm run test:clients';
  if (path === zoo) return 'npm run explore:libraries';
  return `npx vitest run --mode ${path.includes('.beside.') ? 'beside' : 'quick'} ${path}`;
}

/** The files of tests that the page names. */
export const clientTests: readonly string[] = [...new Set(clients.flatMap(({ runs }) => runs))];

export function clientsPage(): string {
  const rows = clients.map(
    (client) =>
      `| ${client.name} | ${versionOf(client)} | ${client.what} | ${client.runs.map((path) => `\`${path}\``).join(', ')} |`,
  );
  const commands = clientTests.map((path) => `| \`${path}\` | \`${commandOf(path)}\` |`);
  return `<!-- \`npm run docs\` writes this page (tools/docs/clients-page.ts). -->

# Clients and versions

Any client that speaks RESP2 or RESP3 can connect. These are the clients and lock libraries that the tests of this project run,
unmodified, with the versions that they run. A version that is missing has not been tried here; tell us what you find.

| client or library | version | what runs | where |
|---|---|---|---|
${rows.join('\n')}

\`ioredis\` is a peer of the package, from version 5 on. The lab's \`client(…)\` uses the version that is installed.
\`lostlock/ioredis-mock\` runs on ioredis 5 and 6.

The commands, from a checkout of the repository (what is not installed is named and left out):

| tests | command |
|---|---|
${commands.join('\n')}
`;
}
