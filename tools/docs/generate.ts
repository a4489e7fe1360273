/**
 * `npm run docs`: writes docs/clients.md, docs/commands.md, docs/differences.md, docs/parameters.md, the tables of
 * failures and of explorations, the kinds of lock in README.md, and the pictures of timelines.
 */
import '../../lab/router.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { allCommands } from '../../server/commands/index.ts';
import { catalogueTables, withTables } from '../../test/catalogue/pages.ts';
import { clientsPage } from './clients-page.ts';
import { commandsPage } from './commands-page.ts';
import { differencesPage } from './differences-page.ts';
import { withExploreTables } from './explore-tables.ts';
import { parametersPage } from './parameters-page.ts';
import { withKinds } from './readme-kinds.ts';
import { timelinePictures } from './timeline-picture.ts';

writeFileSync(new URL('../../docs/commands.md', import.meta.url), commandsPage(allCommands));
writeFileSync(new URL('../../docs/clients.md', import.meta.url), clientsPage());
writeFileSync(new URL('../../docs/differences.md', import.meta.url), differencesPage());
writeFileSync(new URL('../../docs/parameters.md', import.meta.url), parametersPage());
for (const path of Object.keys(catalogueTables)) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), withTables(path));
}
const explorePage = new URL('../../docs/explore.md', import.meta.url);
writeFileSync(explorePage, withExploreTables(readFileSync(explorePage, 'utf8')));
const readme = new URL('../../README.md', import.meta.url);
writeFileSync(readme, withKinds(readFileSync(readme, 'utf8')));
for (const [name, picture] of await timelinePictures())
  writeFileSync(new URL(`../../docs/${name}`, import.meta.url), picture);
