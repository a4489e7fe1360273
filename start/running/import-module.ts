/** import() for what a user names. The build gives it a file that Node itself compiles, because kept code cannot import (kept-code.ts). */

/** Imports a module. @param target a URL, or the name of a module of Node or of a package that is installed beside lostlock */
export const importModule = (target: string): Promise<unknown> => import(target);
