/** What a release needs: a complete manifest, a sound Dockerfile, and workflows and an action that name what they use exactly. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { reasonsAgainst, releaseManifest } from '../../tools/release/manifest.ts';
import owner from '../../tools/release/owner.json' with { type: 'json' };

const someone = { author: 'Ann <ann@example.org>', repository: 'https://github.com/ann/lostlock' };
const ready = { owner: someone, version: '1.2.3', changelog: '# Changelog\n\n## 1.2.3\n', uncommitted: '' };

describe('the manifest', () => {
  test('names the author, the repository, the home page and the place for bugs', () => {
    const complete = releaseManifest(manifest, someone);
    expect(complete).toMatchObject({
      author: someone.author,
      homepage: 'https://github.com/ann/lostlock#readme',
      bugs: 'https://github.com/ann/lostlock/issues',
      repository: { type: 'git', url: 'git+https://github.com/ann/lostlock.git' },
      exports: manifest.exports,
      dependencies: manifest.dependencies,
      peerDependencies: manifest.peerDependencies,
    });
    expect(complete).not.toHaveProperty('scripts');
    expect(complete).not.toHaveProperty('devDependencies');
  });

  test('names nobody while the owner is unknown', () => {
    const complete = releaseManifest(manifest, { author: '', repository: '' });
    expect(Object.keys(complete)).not.toEqual(expect.arrayContaining(['author']));
    expect(complete).not.toHaveProperty('repository');
  });

  test('has the owner in tools/release/owner.json only', () => {
    expect(Object.keys(owner).sort()).toEqual(['author', 'repository']);
    for (const field of ['author', 'repository', 'homepage', 'bugs'])
      expect(manifest).not.toHaveProperty(field);
  });
});

describe('a release is refused', () => {
  test.each([
    ['never, when all is there', {}, []],
    ['without an author', { owner: { ...someone, author: '' } }, [/author/]],
    ['without a repository', { owner: { ...someone, repository: '' } }, [/repository/]],
    [
      'when the repository is not a plain address',
      { owner: { ...someone, repository: 'https://github.com/ann/lostlock.git' } },
      [/repository/],
    ],
    ['when the changelog does not have the version', { version: '1.2.4' }, [/no heading for 1\.2\.4/]],
    ['with changes that are not committed', { uncommitted: ' M index.ts' }, [/not committed/]],
  ])('%s', (_when, change, expected) => {
    const reasons = reasonsAgainst({ ...ready, ...change });
    expect(reasons).toHaveLength(expected.length);
    for (const [i, pattern] of expected.entries()) expect(reasons[i]).toMatch(pattern);
  });
});

/** What is wrong with a Dockerfile; the numbers are hadolint's. */
function dockerfileFaults(text: string): string[] {
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n');
  const instructions = lines.filter((line) => /^[A-Z]+ /.test(line)).map((line) => line.split(/ (.*)/));
  const all = (name: string): string[] =>
    instructions.filter(([word]) => word === name).map(([, rest]) => rest ?? '');
  const faults: string[] = [];
  for (const image of all('FROM')) {
    if (!/:\d+\.\d+/.test(image)) faults.push(`DL3006/DL3007: ${image} has no exact tag`);
  }
  for (const name of ['CMD', 'ENTRYPOINT']) {
    for (const words of all(name)) if (!words.startsWith('[')) faults.push(`DL3025: ${name} is not JSON`);
  }
  if (all('ADD').length > 0) faults.push('DL3020: use COPY');
  if (all('MAINTAINER').length > 0) faults.push('DL4000: MAINTAINER is deprecated');
  for (const folder of all('WORKDIR'))
    if (!folder.startsWith('/')) faults.push('DL3000: WORKDIR is relative');
  for (const script of all('RUN')) {
    if (/\bsudo\b/.test(script)) faults.push('DL3004: sudo');
    if (/\bcd \//.test(script)) faults.push('DL3003: cd');
  }
  const user = all('USER').at(-1);
  if (user === undefined || user === 'root') faults.push('DL3002: the container runs as root');
  if (all('HEALTHCHECK').length !== 1) faults.push('DL3055: there must be one HEALTHCHECK');
  return faults;
}

describe('the Dockerfile', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8');

  test('has no fault', () => {
    expect(dockerfileFaults(dockerfile)).toEqual([]);
  });

  test.each([
    ['an image without a tag', (text: string) => text.replaceAll(/^FROM \S+/gm, 'FROM node'), /DL3006/],
    [
      'a shell that does not pass signals on',
      (text: string) => text.replace('["lostlock"]', 'lostlock'),
      /DL3025/,
    ],
    ['root', (text: string) => text.replace('USER node\n', ''), /DL3002/],
    ['ADD', (text: string) => text.replace('COPY . .', 'ADD . .'), /DL3020/],
    ['no health check', (text: string) => text.replace(/^HEALTHCHECK.*\n/m, ''), /DL3055/],
  ])('would be found to have %s', (_fault, breakIt, expected) => {
    expect(dockerfileFaults(breakIt(dockerfile)).join('\n')).toMatch(expected);
  });

  test('checks the health of the port that it opens, and copies nothing that is built', () => {
    const port = /^EXPOSE (\d+)$/m.exec(dockerfile)?.[1];
    expect(dockerfile).toContain(`connect(${port})`);
    expect(dockerfile).toContain(`"--port", "${port}"`);
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', 'dist', 'node_modules']));
  });
});

describe('the workflows', () => {
  const folder = '.github/workflows';
  test.each(readdirSync(folder))(
    '%s names the actions of others by commit, and may only read by default',
    (name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const used = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1] ?? '');
      expect(used.length).toBeGreaterThan(0);
      expect(used.filter((action) => !/^[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
      expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
    },
  );

  test('name only scripts that exist', () => {
    const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const named = [...all.join('\n').matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? '');
    expect(named).toContain('release');
    expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });
});

test('the action hands every input to its script, and every output to its caller', () => {
  const action = readFileSync('action.yml', 'utf8');
  const script = readFileSync('tools/release/action.sh', 'utf8');
  const section = (name: string): string =>
    new RegExp(`^${name}:\\n((?: .*\\n)+)`, 'm').exec(action)?.[1] ?? '';
  const names = (text: string): string[] =>
    [...text.matchAll(/^ {2}(\w+):$/gm)].map((match) => match[1] ?? '');
  expect(names(section('inputs'))).toContain('dialect');
  for (const input of names(section('inputs'))) {
    expect(action).toContain(`${input.toUpperCase()}: \${{ inputs.${input} }}`);
    expect(script).toContain(`\${${input.toUpperCase()}:-`);
  }
  expect(names(section('outputs'))).toEqual(['url', 'host', 'port']);
  for (const output of names(section('outputs'))) expect(script).toContain(`echo "${output}=`);
});
