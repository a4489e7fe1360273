/**
 * Measures how long each entry of the built package takes to load: whole processes that load it, compared with a bare
 * node.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median, pinned, SERVER_CORE } from './contestants.ts';
import type { Row } from './report.ts';

/** The goals, in milliseconds above a bare node. */
const GOALS: Record<string, number> = { lostlock: 30, 'lostlock/locks': 12 };

const PROGRAMS: Record<string, { readonly mjs?: string; readonly cjs?: string }> = {
  'a bare node': { mjs: '', cjs: '' },
  ...Object.fromEntries(
    ['lostlock', 'lostlock/locks', 'lostlock/router', 'lostlock/jest'].map((name) => [
      name,
      { mjs: `import '${name}';`, cjs: `require('${name}');` },
    ]),
  ),
  'lostlock, and a server that starts and stops': {
    mjs: "import { startServer } from 'lostlock'; await (await startServer()).stop();",
    cjs: "const { startServer } = require('lostlock'); startServer().then((server) => server.stop());",
  },
  // Set before it is loaded: the program's first word.
  'the command line, --version': {
    cjs: "process.argv[2] = '--version'; import('./node_modules/lostlock/dist/cli.js');",
  },
  'lostlock, and a pair that starts and closes': {
    mjs: "import { startPair } from 'lostlock'; await (await startPair({ clock: 'virtual' })).close();",
  },
};

/** How long each program takes in milliseconds, by its file. The programs take turns. */
function measure(folder: string, files: readonly string[], rounds: number): Map<string, readonly number[]> {
  const times = new Map<string, number[]>(files.map((file) => [file, []]));
  for (let i = 0; i <= rounds; i++) {
    for (const file of files) {
      const [command, args] = pinned(SERVER_CORE, process.execPath, [file]);
      const started = performance.now();
      execFileSync(command, args, { cwd: folder });
      if (i > 0) times.get(file)!.push(performance.now() - started); // The first round fills the disk's cache.
    }
  }
  return times;
}

/** The rows of this chapter. */
export function entries(rounds: number): Row[] {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-entries-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(resolve('.'), join(folder, 'node_modules', 'lostlock'), 'junction');
    const programs = Object.entries(PROGRAMS).flatMap(([name, forms], i) =>
      Object.entries(forms).map(([extension, text]) => {
        const file = `program-${i}.${extension}`;
        writeFileSync(join(folder, file), text);
        return { name, extension, file };
      }),
    );
    const times = measure(
      folder,
      programs.map(({ file }) => file),
      rounds,
    );
    return programs.map(({ name, extension, file }, i) => {
      const taken = times.get(file)!;
      const system = extension === 'mjs' ? 'import' : 'require';
      if (i < 2) return { name: `${name}, ${system}`, ours: median(taken), other: undefined, unit: 'ms' };
      // Of the same round, because the machine's speed changes.
      const bare = times.get(`program-0.${extension}`)!;
      const ours = median(taken.map((time, round) => time - bare[round]!));
      return { name: `${name}, ${system}`, ours, other: GOALS[name], unit: 'ms above', lessIsBetter: true };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
