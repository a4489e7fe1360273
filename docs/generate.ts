/** Writes docs/commands.md from the command table and docs/differences.md from the tester's exceptions: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import { allCommands } from '../server/commands/index.ts';
import { commandsPage } from './commands-page.ts';
import { differencesPage } from './differences-page.ts';

writeFileSync(new URL('./commands.md', import.meta.url), commandsPage(allCommands));
writeFileSync(new URL('./differences.md', import.meta.url), differencesPage());
