#!/usr/bin/env node
/** `npx lostlock`: the command-line server. Flags use redis.conf's parameter names. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { requireKept } from './embed/files/kept-code.ts';

// Node keeps the compiled code for the next start, from version 22.1 on. That saves a third of the time to the first reply.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown };
/** Undefined in the single executable, which is one file. */
const folder: string | undefined = import.meta.dirname;
/** The same code as a CommonJS module, in the built package. */
const twin = folder === undefined ? '' : join(folder, 'command.cjs');
// With a word such as `explore`, the command imports files of its user, which a CommonJS module cannot do.
const serves = process.argv.slice(2, 3).every((word) => word.startsWith('-'));

if (enableCompileCache === undefined && serves && existsSync(twin)) requireKept(twin);
else {
  enableCompileCache?.();
  void import('./command.ts');
}
