/** Every line of a page that installs lostlock works before it is on npm, and one script switches all of them when it is. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { installPages, published } from '../../tools/release/install-lines.ts';

const pages = installPages().map((page) => ({ page, text: readFileSync(page, 'utf8') }));

/** Lines that would take from a registry whatever is published under our name. */
function fromRegistry(text: string): string[] {
  const installs =
    /\b(npm (i|install|add|exec)|npx (-y|--yes)|(yarn|pnpm|bun) (add|dlx|x)|bunx(?! --no-install))\b.*/;
  return text.split('\n').flatMap((line) => {
    const [command = ''] = installs.exec(line) ?? [];
    return /(^|\s)lostlock(\s|@|`|$)/.test(command.replace(/`.*| #.*/, '`')) ? [line] : [];
  });
}

test('no page installs what somebody else may publish under the name', () => {
  expect(pages.flatMap(({ page, text }) => fromRegistry(text).map((line) => `${page}: ${line}`))).toEqual([]);
  expect(
    fromRegistry(
      'npm install --save-dev lostlock ioredis\nnpx --yes lostlock\nnpx lostlock demo\nbunx lostlock',
    ),
  ).toHaveLength(3);
});

test('the packed file that pages install is that of this version', () => {
  const files = pages.flatMap(({ text }) => text.match(/\.\.\/lostlock\/lostlock-[\d.]*\.tgz/g) ?? []);
  expect(files.length).toBeGreaterThan(8);
  expect([...new Set(files)]).toEqual([`../lostlock/lostlock-${manifest.version}.tgz`]);
});

test('one script turns all pages to the registry', () => {
  for (const { page, text } of pages) {
    const after = published(text);
    expect({ page, left: /not on npm yet|\.tgz|npm pack/.exec(after)?.[0] }).toEqual({ page });
    expect(published(after)).toBe(after);
  }
  const readme = published(readFileSync('README.md', 'utf8'));
  expect(readme).toContain('\nnpm install --save-dev lostlock ioredis\n');
  expect(readme).toContain('`npm ci && npm start`');
});
