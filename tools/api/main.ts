/** `npm run api` writes the API report into docs/api; `npm run api -- --check` fails when it is not what the code exports. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../test/support/built.ts';
import { apiReport, undocumented } from './report.ts';

const folder = join(import.meta.dirname, '../../docs/api');

/** Says which files of the report are not what the code exports, and what to do about it. */
function check(report: ReadonlyMap<string, string>): void {
  const names = [...new Set([...report.keys(), ...readdirSync(folder)])];
  const changed = names.filter((name) => {
    const isThere = report.has(name) && readdirSync(folder).includes(name);
    return !isThere || readFileSync(join(folder, name), 'utf8') !== report.get(name);
  });
  for (const line of undocumented()) console.log(`without a docstring: ${line}`);
  for (const name of changed) console.log(`changed: docs/api/${name}`);
  if (changed.length > 0) {
    console.log(
      'The public API has changed. Read docs/stability.md, run `npm run api`, and commit docs/api.',
    );
    console.log(
      'What is removed or renamed is deprecated first; before 1.0, CHANGELOG.md says what to write instead.',
    );
  }
  if (changed.length + undocumented().length > 0) process.exitCode = 1;
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
await ensureBuilt();
const report = apiReport();
if (values.check) check(report);
else {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of report) writeFileSync(join(folder, name), text);
}
