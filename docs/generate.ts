/** Writes docs/commands.md, docs/differences.md, docs/parameters.md and the pictures of timelines: `npm run docs`. */
import '../lab/router.ts';
import { writeFileSync } from 'node:fs';
import { allCommands } from '../server/commands/index.ts';
import { commandsPage } from './commands-page.ts';
import { differencesPage } from './differences-page.ts';
import { parametersPage } from './parameters-page.ts';
import { timelinePictures } from './timeline-picture.ts';

writeFileSync(new URL('./commands.md', import.meta.url), commandsPage(allCommands));
writeFileSync(new URL('./differences.md', import.meta.url), differencesPage());
writeFileSync(new URL('./parameters.md', import.meta.url), parametersPage());
for (const [name, picture] of await timelinePictures())
  writeFileSync(new URL(name, import.meta.url), picture);
