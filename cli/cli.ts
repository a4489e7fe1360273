#!/usr/bin/env node
/** `npx lostlock`: the command-line server. Flags use redis.conf's parameter names. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { isNode } from '../start/running/runtime.ts';
import { requireKept } from './kept-code.ts';

/** Undefined in the single executable, which is one file. */
const folder: string | undefined = import.meta.dirname;
/** The same code as a CommonJS module, in the built package. */
const twin = folder === undefined ? '' : join(folder, 'command.cjs');
// Commands such as `explore` import files of their user, which kept code cannot do. They begin with a word, not with a flag.
const serves = process.argv.slice(2, 3).every((word) => word.startsWith('-'));

if (isNode && serves && existsSync(twin)) requireKept(twin);
else {
  // From version 22.1 on, Node keeps the code of ES modules.
  (module as { enableCompileCache?(): unknown }).enableCompileCache?.();
  void import('./command.ts');
}
