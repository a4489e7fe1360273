/** `npm run demo` and `npx lostlock demo`: shows on a virtual clock how failovers lose locks. */
import '../router.ts';
import { demoCommand } from './command.ts';

process.exitCode = await demoCommand(process.argv.slice(2));
