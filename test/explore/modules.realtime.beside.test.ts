/** Each client has modules of its own: what a module keeps in one client or world is not seen in another. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { explore } from '../../explore/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-modules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, source: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, source);
  return path;
}

/** GET, then SET, behind a queue of the module: no lock at all between processes. */
const queue = write(
  'queue.mjs',
  `import { basename } from 'node:path';
  let tail = Promise.resolve();
  export let uses = 0;
  export const where = basename(import.meta.url);
  export function alone(work) {
    uses++;
    const done = tail.then(work);
    tail = done.catch(() => {});
    return done;
  }`,
);
const file = write(
  'queued.explore.mjs',
  `import { alone, uses, where } from './queue.mjs';
  import { counted } from 'counter';
  globalThis.seen ??= new Set();
  export async function client({ name, redis, sleep, resource }) {
    await alone(async () => {
      globalThis.seen.add(\`\${where} used \${uses}, counted \${counted() > 1 ? 'more' : 1}\`);
      while ((await redis.get('lock')) !== null) await sleep(20);
      await redis.set('lock', name, 'PX', 1000);
      const inside = resource('stock').enter();
      await sleep(20);
      inside.write();
      inside.leave();
      await redis.del('lock');
    });
  }
  export const queued = { name: 'queued', clients: 2, topology: { replicas: 0 }, client, faults: [],
    promises: ['mutual-exclusion'], budget: { worlds: 3, ms: Infinity } };
  globalThis.told ??= process.on('exit', () => console.log([...globalThis.seen].join('; ')));
  `,
);
write(
  'node_modules/counter/package.json',
  '{ "name": "counter", "type": "module", "exports": "./index.js" }',
);
write('node_modules/counter/index.js', 'let calls = 0;\nexport const counted = () => ++calls;\n');

function node(...args: string[]): string {
  // A test runner that runs in a test of another one would take the settings of that one.
  const { NODE_TEST_CONTEXT: _, VITEST: __, GITHUB_ACTIONS: ___, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [...args], { encoding: 'utf8', env });
  return stdout + stderr;
}

const FRESH = 'modules are loaded anew for each client and world';

test('a queue of a module hides no defect: each client of npx lostlock explore has one of its own', () => {
  const told = node('--import', 'tsx', resolve('cli/cli.ts'), 'explore', file);
  expect(told).toContain('queued: mutual-exclusion is broken (no fault)');
  expect(told).toContain(`\n${FRESH}\n`);
  expect(told).not.toContain('ExperimentalWarning');
  const replay = /^replay: (\S+)/m.exec(told)?.[1];
  const again = node('--import', 'tsx', resolve('cli/cli.ts'), 'explore', file, '--replay', String(replay));
  expect(again).toContain('mutual-exclusion is broken');
}, 120_000);

test('a file as client has fresh modules too, and so have the packages that are named; others are loaded once', () => {
  const main = (modules: string): string =>
    write(
      'main.mjs',
      `import { explore } from ${JSON.stringify(resolve('explore/index.ts'))};
      import { queued } from './queued.explore.mjs';
      const client = new URL('./queued.explore.mjs', import.meta.url);
      const report = await explore({ ...queued, client, modules: ${modules} });
      console.log(report.coverage.modules, report.findings.length);
      process.exit(0);`,
    );
  const flag = '--experimental-vm-modules';
  const run = (modules: string): string => node(flag, '--import', 'tsx', main(modules));
  expect(run('[]')).toMatch(
    new RegExp(`${FRESH} 1\\nqueue.mjs used 1, counted 1; queue.mjs used 1, counted more\\n`),
  );
  expect(run("['counter']")).toMatch(new RegExp(`${FRESH} 1\\nqueue.mjs used 1, counted 1\\n`));
  expect(node('--import', 'tsx', main('[]'))).toContain(
    'modules are shared by all clients and worlds: Node was started without --experimental-vm-modules 0',
  );
}, 120_000);

test('clients still start after one has set a flag of V8, with which V8 rejects what it compiled before', () => {
  const flagged = write(
    'flagged.explore.mjs',
    `import v8 from 'node:v8';
    export async function client({ redis, resource }) {
      v8.setFlagsFromString('--expose-gc');
      resource('stock').enter().leave();
      await redis.ping();
    }
    export const flagged = { name: 'flagged', clients: 2, topology: { replicas: 0 }, client, faults: ['client-pause'],
      promises: ['mutual-exclusion'], budget: { worlds: 5, ms: Infinity } };`,
  );
  const told = node('--import', 'tsx', resolve('cli/cli.ts'), 'explore', flagged);
  expect(told).toContain('flagged: 0 findings in 5 worlds');
  expect(told).not.toContain('rejected');
}, 120_000);

test('a file that awaits real time while it is loaded is loaded once', () => {
  const slow = write(
    'slow.explore.mjs',
    `import { readFile } from 'node:fs/promises';
    const name = (await readFile(new URL(import.meta.url), 'utf8')).length > 0 ? 'slow' : '';
    export const slow = { name, clients: 1, faults: [], promises: [], budget: { worlds: 1 },
      client: ({ resource }) => resource('stock').enter().leave() };`,
  );
  const told = node('--import', 'tsx', resolve('cli/cli.ts'), 'explore', slow);
  expect(told).toContain('slow: 0 findings in 1 world');
  expect(told.replace(/\s+/g, ' ')).toMatch(
    /modules are shared by all clients and worlds: \S+slow.explore.mjs awaits something while it is loaded/,
  );
}, 120_000);

test('a function as client shares its modules, and the report says so', async () => {
  const client = async ({ resource }: { resource: (name: string) => { enter(): { leave(): void } } }) =>
    resource('stock').enter().leave();
  const options = { name: 'shared', clients: 1, client, faults: [], promises: [], budget: { worlds: 1 } };
  expect(String(await explore(options))).toContain(
    '\nmodules are shared by all clients and worlds: the client is a function, and no file',
  );
  const nothing = new URL(`file://${queue}`);
  await expect(explore({ ...options, client: nothing })).rejects.toThrow(
    'queue.mjs exports no code of a client',
  );
});

/** The same queue in CommonJS, with a package and a JSON file that are changed, a circle, and what code may ask of its module. */
const common = (): string => {
  write('common/package.json', '{ "name": "app", "type": "commonjs" }');
  write('common/settings.json', '{ "uses": 0 }');
  write(
    'common/queue.js',
    `const settings = require('./settings');
    const { createHash } = require('crypto');
    exports.main = () => require.main === module || module.filename !== __filename || !module.id.startsWith(__dirname);
    const { named } = require('./named.cjs');
    let tail = Promise.resolve();
    exports.alone = (work) => {
      settings.uses++;
      const done = tail.then(work);
      tail = done.catch(() => {});
      return done;
    };
    exports.told = () => \`\${named()} used \${settings.uses}, \${this === exports && createHash('md5') !== undefined}\`;`,
  );
  write(
    'common/named.cjs',
    "const queue = require('./queue.js');\nexports.named = () => (queue.main() ? 'main' : 'queue');\n",
  );
  return write(
    'common/queued.explore.js',
    `const { alone, told } = require('./queue');
    globalThis.seen ??= new Set();
    const client = async ({ name, redis, sleep, resource }) => {
      await alone(async () => {
        const { counted } = require('counted');
        globalThis.seen.add(\`\${told()}, counted \${counted() > 1 ? 'more' : 1}\`);
        while ((await redis.get('lock')) !== null) await sleep(20);
        await redis.set('lock', name, 'PX', 1000);
        const inside = resource('stock').enter();
        await sleep(20);
        inside.write();
        inside.leave();
        await redis.del('lock');
      });
    };
    exports.client = client;
    exports.queued = { name: 'queued', clients: 2, topology: { replicas: 0 }, client, faults: [],
      promises: ['mutual-exclusion'], budget: { worlds: 3, ms: Infinity } };
    globalThis.told ??= process.on('exit', () => console.log([...globalThis.seen].join('; ')));`,
  );
};

test('a CommonJS file has fresh modules too: require() has a cache for each client', () => {
  const queued = common();
  write('node_modules/counted/package.json', '{ "name": "counted", "main": "./index.js" }');
  write('node_modules/counted/index.js', 'let calls = 0;\nexports.counted = () => ++calls;\n');
  const told = node('--import', 'tsx', resolve('cli/cli.ts'), 'explore', queued);
  expect(told).toContain('queued: mutual-exclusion is broken (no fault)');
  expect(told).toContain(`\n${FRESH}\n`);
  expect(told).toContain('queue used 1, true, counted 1; queue used 1, true, counted more\n');
  const main = (client: string, modules: string): string =>
    write(
      'main.mjs',
      `import { explore } from ${JSON.stringify(resolve('explore/index.ts'))};
      import queued from './common/queued.explore.js';
      const client = new URL(${JSON.stringify(client)}, import.meta.url);
      const report = await explore({ ...queued.queued, client, modules: ${modules} });
      console.log(report.coverage.modules, report.findings.length);
      process.exit(0);`,
    );
  // No flag of Node is needed where all of the user's files are CommonJS.
  const alone = node('--import', 'tsx', main('./common/queued.explore.js', "['counted']"));
  expect(alone).toContain(`${FRESH} 1\nqueue used 1, true, counted 1\n`);
  // An ES module that imports one has the same: one copy for each life.
  write(
    'mixed.mjs',
    `import { alone } from './common/queue.js';
    import queue from './common/queue.js';
    import { client } from './common/queued.explore.js';
    if (alone !== queue.alone) throw new Error('two copies');
    export default client;`,
  );
  const mixed = node('--experimental-vm-modules', '--import', 'tsx', main('./mixed.mjs', '[]'));
  expect(mixed).toContain(`${FRESH} 1\nqueue used 1, true, counted 1; queue used 1, true, counted more\n`);
}, 120_000);

test('the syntax of a file decides where its package does not', () => {
  write('typeless/package.json', '{ "name": "typeless" }');
  write('typeless/state.js', 'let uses = 0;\nexport const use = () => ++uses;\n');
  const esm = write(
    'typeless/esm.js',
    `import { use } from './state.js';
    export const client = ({ resource }) => resource(\`used \${use()}\`).enter().leave();`,
  );
  const main = write(
    'typeless/main.mjs',
    `import { explore } from ${JSON.stringify(resolve('explore/index.ts'))};
    const client = new URL(${JSON.stringify(`file://${esm}`)});
    const own = function resources({ visits }) { return visits.some(({ resource }) => resource !== 'used 1') ? 'used again' : undefined; };
    const report = await explore({ name: 'typeless', client, clients: 2, faults: [], promises: [own], budget: { worlds: 3 } });
    console.log(report.coverage.modules, report.findings.length);
    process.exit(0);`,
  );
  expect(node('--experimental-vm-modules', '--import', 'tsx', main)).toContain(`${FRESH} 0\n`);
}, 120_000);
