/** `npm run explore:libraries`: explores the lock libraries of npm, and writes docs/libraries.md. */
import '../../lab/router.ts';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ExploreReport, explore, type Finding } from '../../explore/index.ts';
import { type Specimen, zoo } from './zoo.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '400' },
    only: { type: 'string' },
    folder: { type: 'string' },
  },
});
const folder = `${process.cwd()}/node_modules/.cache/lostlock-libraries`;
const HERE = 'bench/libraries';

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

function versionOf({ module }: Specimen): string {
  if (module === undefined) return 'this one';
  return (
    JSON.parse(readFileSync(`${folder}/node_modules/${module}/package.json`, 'utf8')) as { version: string }
  ).version.replace(/^v/, '');
}

const OUTCOMES: Readonly<Record<string, string>> = {
  'mutual-exclusion': 'two holders',
  fencing: 'fence used twice',
  'no-orphan': 'orphan',
  progress: 'never again',
};

function rowsOf(specimen: Specimen, report: ExploreReport | Error): string[] {
  const head = `| ${specimen.name} | ${versionOf(specimen)} |`;
  if (report instanceof Error)
    return [`${head} – | could not be explored: ${report.message.split('\n')[0]?.replaceAll('|', '/')} | |`];
  const found = report.findings.filter(({ promise }) => promise !== 'contended');
  if (found.length === 0) return [`${head} every fault | holds, in ${report.worlds} worlds | |`];
  return found.map(
    (finding: Finding) =>
      `${head} ${finding.cause} | ${OUTCOMES[finding.promise] ?? finding.promise} | \`${finding.replay}\` |`,
  );
}

install();
const specimens = zoo(folder).filter(({ name }) => values.only === undefined || name.includes(values.only));
const rows: string[] = [];
for (const specimen of specimens) {
  const { name, client, topology } = specimen;
  const options = {
    name,
    client,
    ...(topology !== undefined && { topology }),
    clients: 2,
    budget: { worlds: Number(values.worlds), ms: Infinity },
  };
  const report = await explore(options).catch((error: Error) => error);
  rows.push(...rowsOf(specimen, report));
  console.log(report instanceof Error ? `${name}: ${report.message}` : report.toString());
}
const said = specimens.map(({ name, says }) => `| ${name} | ${says} |`);
const page = `# The lock libraries of npm, explored

\`npm run explore:libraries\` makes this page. It installs the libraries unmodified, at pinned versions, and explores each: two clients
acquire, work for 250 ms under a lease of 1000 ms, and release, in ${values.worlds} worlds. One primary with one replica, unless the name says
otherwise. [docs/explore.md](explore.md) says what each fault is and what each promise means. A library is not wrong because it is in this
table: every lock with a lease lets two clients in when a holder stalls and the resource does not check a fence, and nearly every
lock on one primary when a failover loses its key. The table shows which, and the text plays that world again (\`replay\`).

| Library | Version | Fault | Outcome | Replay |
|---|---|---|---|---|
${rows.join('\n')}

## What their documentation says

| Library | In short |
|---|---|
${said.join('\n')}
`;
if (values.only === undefined) writeFileSync('docs/libraries.md', page);
