/** `npx lostlock init`: writes a test of a lock for the test runner and the library that package.json names. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseOptions, UsageError } from './usage.ts';

/** What `--help` prints. */
export const HELP = `Usage: lostlock init [options]

Looks at package.json, and writes a test for the test runner and the lock library that it finds: first green, then a failover,
then an exploration. Put your own lock where the written code has one.
  --runner NAME    vitest, jest, mocha or node (default: the one that package.json has)
  --library NAME   LIBRARIES (default: the first that package.json has)
  --dir FOLDER     where to write (default: test/lostlock)
`;

/** The example for each library, and the packages by which a project shows that it uses it. The first that fits is taken. */
const EXAMPLES: readonly { readonly name: string; readonly packages: readonly string[] }[] = [
  { name: 'nestjs', packages: ['@nestjs/common', 'redis-semaphore'] },
  { name: 'redlock', packages: ['redlock'] },
  { name: 'redlock', packages: ['@sesamecare-oss/redlock'] },
  { name: 'redis-semaphore', packages: ['redis-semaphore'] },
  { name: 'bullmq', packages: ['bullmq'] },
  { name: 'set-nx-ioredis', packages: ['ioredis'] },
  { name: 'set-nx-node-redis', packages: ['redis'] },
];

/** Examples that no package stands for. */
const OTHERS = ['lostlock-locks', 'cron', 'limiter', 'cache', 'service-with-database'];
const LIBRARIES = [...new Set(EXAMPLES.map(({ name }) => name)), ...OTHERS];

/** The first major version of a package whose interface the examples use. */
const SINCE: Readonly<Record<string, number>> = {
  ioredis: 5,
  redis: 4,
  'redis-semaphore': 4,
  bullmq: 4,
  redlock: 3,
};

/** Another form of an example, for a package or a version with another interface. */
export interface InitForm {
  /** What the code's file is called instead, before its ending `.js`. */
  readonly suffix?: string;
  /** What is replaced in the code. */
  readonly code?: readonly [string, string];
  /** A package that the test loads, and what it does with it. */
  readonly prepare?: { readonly module: string; readonly name: string; readonly call: string };
}

/** redlock 3 and 4 have another interface, and promises that call back from one queue of the whole process. */
const REDLOCK_4: InitForm = {
  suffix: '.redlock-4',
  prepare: {
    module: 'bluebird',
    name: 'bluebird',
    call: 'setScheduler(queueMicrotask); // Promises of redlock 4: one queue would call back for all clients.',
  },
};

const SESAMECARE: InitForm = {
  code: [
    "const { default: Redlock } = require('redlock');",
    "const { Redlock } = require('@sesamecare-oss/redlock');",
  ],
};

/**
 * The form of an example that fits the packages of a project.
 * @param major the major version of a package; undefined where the project does not name it
 */
export function initForm(library: string, major: (name: string) => number | undefined): InitForm {
  if (library !== 'redlock') return {};
  const version = major('redlock');
  if (version === undefined) return major('@sesamecare-oss/redlock') === undefined ? {} : SESAMECARE;
  return version < 5 ? REDLOCK_4 : {};
}

type InitRunner = 'vitest' | 'jest' | 'mocha' | 'node';
const RUNNERS: readonly InitRunner[] = ['vitest', 'jest', 'mocha', 'node'];

/** The command that runs a test file; `isEsm` is true in a project of ES modules. */
export const RUN: Record<InitRunner, (file: string, isEsm: boolean) => string> = {
  vitest: (file) => `npx vitest run ${file}`,
  // Jest loads ES modules only with this option of Node.
  jest: (file, isEsm) =>
    isEsm ? `node --experimental-vm-modules node_modules/jest/bin/jest.js ${file}` : `npx jest ${file}`,
  mocha: (file) => `npx mocha ${file}`,
  node: (file) => `node --test ${file}`,
};

/** The part of package.json that tells what a project uses. */
interface ProjectManifest {
  readonly type?: string;
  readonly dependencies?: object | null;
  readonly devDependencies?: object | null;
}

/** A file to write. */
export interface InitFile {
  readonly path: string;
  readonly text: string;
}

/** The folder of the examples: beside dist/ in the package, beside cli/ among the sources. */
function examplesFolder(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '.')), '..', 'examples');
}

/** The names of the packages that a project has. */
function packagesOf({ dependencies, devDependencies }: ProjectManifest): string[] {
  return [...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})];
}

/** The major version of a package: of the installed one, or else of the range in package.json. Undefined where the project has none. */
function majorOf(project: ProjectManifest, name: string): number | undefined {
  const range = { ...project.dependencies, ...project.devDependencies }[name as never] as unknown;
  if (typeof range !== 'string') return undefined;
  let version = range;
  try {
    const manifest = readFileSync(join('node_modules', name, 'package.json'), 'utf8');
    version = (JSON.parse(manifest) as { version: string }).version;
  } catch {
    // It is not installed here, but in a workspace's root, or not yet.
  }
  return majorIn(version);
}

/** The major version that a version or a range begins with: 4 for `^4.2.0`. Undefined for other specifiers, such as a path or a tag. */
export function majorIn(range: string): number | undefined {
  const [, major] = /^(?:npm:.+@|workspace:)?[\^~<>=v\s]*(\d+)(?![^.\s|-])/.exec(range) ?? [];
  return major === undefined ? undefined : Number(major);
}

/** The runner and the library of a project. The library is a lock over ioredis when the project has none of the known ones. */
export function projectChoice(project: ProjectManifest): { runner: InitRunner; library: string } {
  const packages = packagesOf(project);
  const runner = RUNNERS.find((name) => packages.includes(name)) ?? 'node';
  const found = EXAMPLES.find((example) => example.packages.every((name) => packages.includes(name)));
  return { runner, library: found?.name ?? 'set-nx-ioredis' };
}

/**
 * The files of an example for a runner, in the module system of the project.
 * @param examples the folder of the examples
 * @param isEsm true for a project whose files are ES modules unless they say otherwise
 * @param to the folder to write into
 * @param form the form that fits the project's packages
 */
export function initFiles(
  examples: string,
  library: string,
  runner: InitRunner,
  isEsm: boolean,
  to: string,
  form: InitForm = {},
): InitFile[] {
  const from = join(examples, library);
  const names = readdirSync(from);
  const testOfExample =
    names.find((name) => name.endsWith(runner === 'vitest' ? '.test.mjs' : '.jest.js')) ?? '';
  const code = testOfExample.replace(/\.(?:test\.mjs|jest\.js)$/, '.js');
  const ending = { vitest: '.test.mjs', jest: '.test.js', mocha: '.spec.js', node: '.test.js' }[runner];
  const testName = `${code.replace(/\.js$/, '')}${ending}`;
  const source = readFileSync(join(from, code.replace(/\.js$/, `${form.suffix ?? ''}.js`)), 'utf8');
  const fitting = form.code === undefined ? source : source.replace(...form.code);
  const test = forRunner(readFileSync(join(from, testOfExample), 'utf8'), runner);
  const inSystem = isEsm ? asModule : (text: string): string => text;
  return [
    { path: join(to, code), text: inSystem(fitting) },
    { path: join(to, testName), text: prepared(inSystem(test), form) },
  ];
}

/** A CommonJS file of the examples as an ES module. */
function asModule(text: string): string {
  return text
    .replace(/^const \{ default: (\w+) \} = require\((.*?)\);/gm, 'import $1 from $2;')
    .replace(/^const (\{ .* \}|\w+) = require\((.*?)\);/gm, 'import $1 from $2;')
    .replace(/^require\((.*?)\);/gm, 'import $1;')
    .replace(/^exports\.(\w+) = \1;/gm, 'export { $1 };')
    .replace(/^exports\.(\w+) =/gm, 'export const $1 =');
}

/** A test that loads what its form needs: before the code where modules load in order. */
function prepared(text: string, { prepare }: InitForm): string {
  if (prepare === undefined) return text;
  const { module, name, call } = prepare;
  return text
    .replace(/^(const .* = require\('\.\/.*)$/m, `require('${module}').${call}\n$1`)
    .replace(/^(import .* from '\.\/.*)$/m, `$1\nimport ${name} from '${module}';\n\n${name}.${call}`);
}

/** Rewrites the form for Jest for another runner. No `expect` of the examples has an empty line in it. */
function forRunner(text: string, runner: InitRunner): string {
  if (runner === 'vitest' || runner === 'jest') return text;
  const isNode = runner === 'node';
  const asserted = text.replace(
    /expect\(((?:.|\n(?!\n))*?)\)\.(toBe|toEqual|toHaveLength|toContain|toBeGreaterThan)\((.*?)\);/g,
    (_, actual: string, matcher: string, wanted: string) => {
      if (matcher === 'toHaveLength') return `assert.equal(${actual}.length, ${wanted});`;
      if (matcher === 'toContain') return `assert.ok(${actual}.includes(${wanted}));`;
      if (matcher === 'toBeGreaterThan') return `assert.ok(${actual} > ${wanted});`;
      return `assert.${matcher === 'toBe' ? 'equal' : 'deepEqual'}(${actual}, ${wanted});`;
    },
  );
  const head = isNode ? "const { test } = require('node:test');\n" : '';
  const entry = isNode ? 'lostlock/node-test' : 'lostlock/mocha';
  const timed = asserted
    .replace('lostlock/jest', entry)
    .replace(/^\}, ([\d_]+)\);( \/\/ .*)?$/gm, isNode ? '});' : '}).timeout($1);$2');
  const whole = `const assert = require('node:assert/strict');\n${head}${timed}`;
  if (!isNode) return whole.replace(/^test\(/gm, 'it(');
  return whole
    .replace(/^const lostlock = fixtures\(\);\n/m, '')
    .replace(/^(test\(.*)async \(\) =>/gm, '$1async (t) =>')
    .replaceAll('lostlock.pair()', 'fixtures(t).pair()')
    .replaceAll('lostlock.explore(', 'fixtures(t).explore(');
}

/** The package.json of the working directory. Throws UsageError when there is none. */
function readProject(): ProjectManifest {
  if (!existsSync('package.json')) {
    const page =
      existsSync('pom.xml') || existsSync('build.gradle') ? 'java' : existsSync('go.mod') ? 'go' : 'python';
    throw new UsageError(
      `there is no package.json here; for other languages, 'lostlock help start/${page}' has a test to copy`,
    );
  }
  let project: ProjectManifest | null;
  try {
    project = JSON.parse(readFileSync('package.json', 'utf8')) as ProjectManifest | null;
  } catch (error) {
    throw new UsageError(`package.json cannot be read: ${(error as Error).message}`);
  }
  if (typeof project !== 'object' || project === null)
    throw new UsageError('package.json has no object in it');
  return project;
}

function init(argv: readonly string[]): string {
  const string = { type: 'string' as const };
  const { values } = parseOptions(argv, {
    options: { runner: string, library: string, dir: string, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) return HELP.replace('LIBRARIES', LIBRARIES.join(', '));
  const project = readProject();
  const choice = projectChoice(project);
  const runner = (values.runner ?? choice.runner) as InitRunner;
  const library = values.library ?? choice.library;
  if (!RUNNERS.includes(runner))
    throw new UsageError(`--runner ${runner}: must be one of ${RUNNERS.join(', ')}`);
  if (!LIBRARIES.includes(library))
    throw new UsageError(`--library ${library}: must be one of ${LIBRARIES.join(', ')}`);
  const folder = values.dir ?? join('test', 'lostlock');
  const major = (name: string): number | undefined => majorOf(project, name);
  for (const [name, least] of Object.entries(SINCE)) {
    const found = major(name);
    const isUsed = EXAMPLES.some((example) => example.name === library && example.packages.includes(name));
    if (isUsed && found !== undefined && found < least)
      throw new UsageError(
        `the test for ${library} is for ${name} ${least} and later, and this project has ${found}; --library names another`,
      );
  }
  const form = initForm(library, major);
  const files = initFiles(examplesFolder(), library, runner, project.type === 'module', folder, form);
  const existing = files.find(({ path }) => existsSync(path));
  if (existing !== undefined)
    throw new UsageError(`${existing.path} is there already; --dir names another folder`);
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of files) writeFileSync(path, text);
  const version = major(library) ?? '';
  const head = `Found ${runner} and ${`${library} ${version}`.trim()}. Written:`;
  const written = [head, ...files.map(({ path }) => `  ${path}`)].join('\n');
  return `${written}\n${nextText(project, library, runner, files)}`;
}

/** What to type next. */
function nextText(
  project: ProjectManifest,
  library: string,
  runner: InitRunner,
  files: readonly InitFile[],
): string {
  const has = packagesOf(project);
  const examples = EXAMPLES.filter(({ name }) => name === library).map(({ packages }) => packages);
  const used = examples.some((packages) => packages.every((name) => has.includes(name)))
    ? []
    : (examples[0] ?? []);
  const missing = ['ioredis', ...used, ...(library === 'nestjs' ? ['@nestjs/testing'] : [])].filter(
    (name, at, all) => !has.includes(name) && all.indexOf(name) === at,
  );
  const why =
    !missing.includes('ioredis') || used.includes('ioredis') ? '' : "   # lostlock's fixtures use ioredis";
  const install = missing.length === 0 ? '' : `  npm install --save-dev ${missing.join(' ')}${why}\n`;
  const run = RUN[runner](files.at(-1)?.path ?? '', project.type === 'module');
  return `Next:\n${install}  ${run}\nThen put your own lock into ${files[0]?.path}: 'lostlock help test-my-lock' says how.\n`;
}

/** Runs the command. Returns the exit status: 0, or 2 for wrong usage. */
export function initCommand(argv: readonly string[]): number {
  try {
    process.stdout.write(init(argv));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`lostlock: ${error.message}\n`);
    return 2;
  }
}
