/** `npm run explore:libraries`: explores the lock libraries of npm, and writes docs/libraries.md. */
import '../../lab/router.ts';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ExploreOptions, type ExploreReport, explore } from '../../explore/index.ts';
import { type Explored, pageOf } from './page.ts';
import { isQuoted, QUOTES } from './quotes.ts';
import { wrongRelease } from './wrong-release.ts';
import { type Specimen, zoo } from './zoo.ts';

// Libraries read the stacks of their errors. To find the place in a source map would take longer than the world.
process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '200' }, only: { type: 'string' } },
});
const folder = `${process.cwd()}/node_modules/.cache/lostlock-libraries`;
const HERE = 'bench/libraries';
/** How many of the worlds are played once more, to look for wrong releases. */
const RELEASES = 0.2;

/** Installs the pinned libraries once, apart from the project's own packages. */
function install(): void {
  mkdirSync(folder, { recursive: true });
  const lock = `${folder}/package-lock.json`;
  const isSame =
    existsSync(`${folder}/node_modules`) &&
    existsSync(lock) &&
    readFileSync(lock, 'utf8') === readFileSync(`${HERE}/package-lock.json`, 'utf8');
  if (isSame) return;
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(`${HERE}/${file}`, `${folder}/${file}`);
  const done = spawnSync('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (done.status !== 0) process.exit(1);
}

function versionIn(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version.replace(/^v/, '');
}

/** The library's sentences. Throws when the documentation does not have one of them. */
function described({ name, module = '' }: Specimen): Omit<Explored, 'reports'> {
  const home = module === '' ? '.' : `${folder}/node_modules/${module}`;
  const quotes = QUOTES[module] ?? [];
  if (quotes.length === 0) throw new Error(`nothing is quoted for ${name}`);
  for (const { file, text } of quotes) {
    if (!isQuoted(readFileSync(`${home}/${file}`, 'utf8'), text))
      throw new Error(`${module}: ${file} does not say: ${text}`);
  }
  return {
    name,
    version: versionIn(`${home}/package.json`),
    quotes,
    source: module === '' ? '' : `${module}, `,
  };
}

async function explored(
  { name, client, topology }: Specimen,
  worlds: number,
  releases: number,
): Promise<ExploreReport[]> {
  const common: ExploreOptions = { name, client, clients: 2, ...(topology !== undefined && { topology }) };
  const all = await explore({ ...common, budget: { worlds, ms: Infinity } });
  // A world ends when two clients are inside. What they release then is seen only if that is not looked for.
  const release = await explore({
    ...common,
    promises: [wrongRelease((topology?.primaries ?? 1) > 1)],
    faults: ['client-pause', 'delay', 'partition', 'failover-behind'],
    budget: { worlds: releases, ms: Infinity },
  });
  return [all, release];
}

install();
const worlds = Number(values.worlds);
const releases = Math.ceil(RELEASES * worlds);
const begun = performance.now();
const all: Explored[] = [];
for (const specimen of zoo(folder)) {
  if (values.only !== undefined && !specimen.name.includes(values.only)) continue;
  const about = described(specimen);
  const reports = await explored(specimen, worlds, releases).catch((error: Error) => error);
  all.push({ ...about, reports });
  console.log(reports instanceof Error ? `${about.name}: ${reports.message}` : reports.join('\n'));
}
const minutes = Math.ceil((performance.now() - begun) / 60_000);
if (values.only === undefined) writeFileSync('docs/libraries.md', pageOf(all, worlds, releases, minutes));
const found = all.flatMap(({ reports }) =>
  reports instanceof Error ? [] : reports.flatMap(({ findings }) => findings),
);
const unstable = found.filter(({ notRepeatable }) => notRepeatable !== undefined).length;
const longest = Math.max(0, ...found.map(({ events }) => events.length));
const failed = all.filter(({ reports }) => reports instanceof Error).length;
console.log(
  `${all.length} libraries and locks, ${failed} of them not explored; ${found.length} findings, of at most ${longest} events; ${unstable} not repeatable; ${minutes} min`,
);
if (failed + unstable > 0) process.exitCode = 1;
