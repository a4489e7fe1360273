#!/usr/bin/env node
/** `npx lostlock`: the command-line server. Flags use redis.conf's parameter names. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireKept } from '../start/running/kept-code.ts';
import { isNode } from '../start/running/runtime.ts';

/** Where this file is. Undefined in an ES module that a bundler has made. */
const folder: string | undefined = import.meta.dirname;
/** The same code as a CommonJS module, in the built package. */
const twin = folder === undefined ? '' : join(folder, 'command.cjs');

if (isNode && existsSync(twin)) requireKept(twin);
else void import('./command.ts');
