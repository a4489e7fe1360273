/** Writes docs/commands.md from the command table: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import { allCommands } from '../server/commands/index.ts';
import { commandsPage } from './commands-page.ts';

writeFileSync(new URL('./commands.md', import.meta.url), commandsPage(allCommands));
