/** `npm run explore:libraries`: explores the lock libraries of npm, and writes docs/libraries.md. */
import '../../lab/router.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ExploreReport, explore } from '../../explore/index.ts';
import { folder, install } from './install.ts';
import { type Explored, pageOf } from './page.ts';
import { isQuoted, QUOTES } from './quotes.ts';
import type { Specimen } from './specimen.ts';
import { boundedOptionsOf, optionsOf, zoo } from './zoo.ts';

// Libraries read the stacks of their errors. To find the place in a source map would take longer than the world.
process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '200' }, only: { type: 'string' } },
});
/** How many worlds with bounded faults are played for each of the others. */
const BOUNDED = 0.5;

function versionIn(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version.replace(/^v/, '');
}

/** The library's sentences. Throws when the documentation does not have one of them. */
function described({ name, module = '', isQueue }: Specimen): Omit<Explored, 'reports'> {
  const home = module === '' ? '.' : `${folder}/node_modules/${module}`;
  const quotes = QUOTES[module] ?? [];
  if (quotes.length === 0) throw new Error(`nothing is quoted for ${name}`);
  for (const { file, text } of quotes) {
    if (!isQuoted(readFileSync(`${home}/${file}`, 'utf8'), text))
      throw new Error(`${module}: ${file} does not say: ${text}`);
  }
  return {
    name,
    isQueue: isQueue === true,
    version: versionIn(`${home}/package.json`),
    quotes,
    source: module === '' ? '' : `${module}, `,
  };
}

/** The reports with all faults, and with those of bounded strength. */
async function explored(specimen: Specimen, worlds: number, few: number): Promise<ExploreReport[]> {
  const all = await explore({ ...optionsOf(specimen), budget: { worlds, ms: Infinity } });
  const bounded = await explore({ ...boundedOptionsOf(specimen), budget: { worlds: few, ms: Infinity } });
  return [all, bounded];
}

install();
const worlds = Number(values.worlds);
const few = Math.ceil(BOUNDED * worlds);
const begun = performance.now();
const all: Explored[] = [];
for (const specimen of await zoo(folder)) {
  if (values.only !== undefined && !specimen.name.includes(values.only)) continue;
  const about = described(specimen);
  const reports = await explored(specimen, worlds, few).catch((error: Error) => error);
  all.push({ ...about, reports });
  console.log(reports instanceof Error ? `${about.name}: ${reports.message}` : reports.join('\n'));
}
const minutes = Math.ceil((performance.now() - begun) / 60_000);
if (values.only === undefined) writeFileSync('docs/libraries.md', pageOf(all, worlds, few, minutes));
const found = all.flatMap(({ reports }) =>
  reports instanceof Error ? [] : reports.flatMap(({ findings, accepted }) => [...findings, ...accepted]),
);
const unstable = found.filter(({ notRepeatable }) => notRepeatable !== undefined).length;
const longest = Math.max(0, ...found.map(({ events }) => events.length));
const failed = all.filter(({ reports }) => reports instanceof Error).length;
console.log(
  `${all.length} libraries and locks, ${failed} of them not explored; ${found.length} findings, of at most ${longest} events; ${unstable} not repeatable; ${minutes} min`,
);
if (failed + unstable > 0) process.exitCode = 1;
