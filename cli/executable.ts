/** The command line as one executable file, which has Node inside. */
import { isNode } from '../start/running/runtime.ts';

/** True in the single executable. Only Node has such executables. */
export const isSea = (): boolean => isNode && process.getBuiltinModule('node:sea').isSea();

/** Ends the single executable, which cannot load the files of other programs. @param instead what it can do */
export function refuseInExecutable(command: string, instead = ''): never {
  console.error(
    `lostlock: ${command} loads your code, so it needs Node.js: npx lostlock ${command}${instead}`,
  );
  process.exit(2);
}

/** Ends the single executable, which is one file without pages. */
export function refuseHelpInExecutable(): never {
  console.error(
    "lostlock: this executable carries no pages: npx lostlock help; 'lostlock --help' lists the flags",
  );
  process.exit(2);
}
