/** The repository's rules for single files, as functions from a source file to its violations, each with the cure. */
import { needs } from '../support/retries/needs.ts';
import { imports, resolveFrom } from './imports.ts';
import { restating } from './restating.ts';
import { retired } from './retired.ts';
import type { Rule } from './rule.ts';
import type { SourceFile } from './source-text.ts';

const coreFolders = ['protocol', 'keyspace', 'scripting', 'server', 'sentinel', 'cluster'];
const core = ['base', ...coreFolders];
const world = [...core, 'start', 'locks', 'page', 'lab'];

/** What each folder may import beside itself; the root's own files are `.`. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  protocol: ['base'],
  keyspace: ['protocol', 'base'],
  scripting: ['protocol', 'base'],
  server: ['scripting', 'keyspace', 'protocol', 'base'],
  locks: ['base'],
  page: ['base'],
  sentinel: ['server', 'protocol', 'base'],
  cluster: ['server', 'keyspace', 'protocol', 'base'],
  start: core,
  lab: [...core, 'start', 'locks', 'page'],
  explore: world,
  playground: ['explore', 'lab', 'page', 'start', 'locks', 'base'],
  '.': world,
  cli: [...world, 'explore', 'playground', '.'],
  runners: [...world, 'explore', '.'],
  adapters: [...world, '.', 'cli'],
};
/** Folders that are not shipped and may import everything. */
const outside = ['test', 'bench', 'docs', 'integrations', 'tools'];
const doors = [
  'server/host/heap.ts',
  'server/host/directory.ts',
  'server/host/node.ts',
  'server/host/real-time.ts',
  'server/host/ambient-clock.ts',
  'server/host/tcp.ts',
  'server/host/reset.ts',
  'server/host/tls.ts',
  'server/host/in-memory.ts',
];

/** The stratum a path belongs to. Configuration is not shipped, and belongs to the tests. */
function folderOf(path: string): string {
  if (/^[^/]+\.config\.ts$/.test(path)) return 'test';
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.';
}

function isCore(file: SourceFile): boolean {
  return coreFolders.includes(folderOf(file.path)) && !doors.includes(file.path);
}

function isTest(file: SourceFile): boolean {
  return file.path.startsWith('test/');
}

/** The files that spell the banned words out. */
function isTidyItself(file: SourceFile): boolean {
  return /^test\/tidy[./]/.test(file.path);
}

const layers: Rule = {
  name: 'layers',
  *check(file) {
    const folder = folderOf(file.path);
    const allowed = mayImport[folder];
    if (allowed === undefined && !outside.includes(folder)) {
      yield {
        at: 0,
        cure: `${folder}/ is in no stratum: give it a line in test/tidy/rules.ts and docs/architecture.md`,
      };
    }
    for (const { at, specifier } of imports(file)) {
      if (specifier.startsWith('.') && allowed !== undefined) {
        const target = folderOf(resolveFrom(file.path, specifier));
        if (target !== folder && !allowed.includes(target)) {
          const only = allowed.join(', ') || 'nothing of ours';
          yield {
            at,
            cure: `${folder}/ must not import ${target}/; it may import ${only}: hand the thing in as an argument`,
          };
        }
      }
      if (isCore(file) && specifier.startsWith('node:') && specifier !== 'node:crypto') {
        yield { at, cure: `${specifier} is outside the core: go through Host (server/host/host.ts)` };
      }
    }
  },
};

/** A rule that bans patterns in the code of some files. */
function ban(name: string, applies: (file: SourceFile) => boolean, bans: readonly [RegExp, string][]): Rule {
  return {
    name,
    *check(file) {
      if (!applies(file)) return;
      for (const [pattern, cure] of bans) {
        for (const match of file.code.matchAll(pattern))
          yield { at: match.index, cure: `${match[0]}: ${cure}` };
      }
    },
  };
}

const hostDoors = ban('doors', isCore, [
  [/(?<![.\w$])(Date|performance)\b(?!\s*:)/g, 'take the time of the execution unit, or host.clock.now()'],
  [
    /\b(set|clear)(Timeout|Interval|Immediate)\b/g,
    'use host.clock.at(deadline, task), or host.clock.soon(task)',
  ],
  [/\b(queueMicrotask|nextTick)\b/g, 'use host.clock.soon(task)'],
  [/\bMath\.random\b/g, 'use host.random()'],
  [/\b(random(Bytes|UUID|Int|FillSync|Fill)|getRandomValues|webcrypto)\b/g, 'use host.random()'],
  [/(?<![.\w$])(process|console|globalThis)\b(?!\s*:)/g, 'hand what is needed in through Host'],
  [
    /(?<![.\w$])(async|await|Promise)\b(?!\s*:)/g,
    'the core is synchronous: call back, or register a retry in blocking.ts',
  ],
]);

/** What a seed must decide is never asked of the real world; lab/node-functions/ stands between the two. */
const worlds = ban('worlds', (file) => /^lab\/(?!router|node-functions)/.test(file.path), [
  [/\bDate\.now\b|\bnew Date\(\s*\)|(?<![.\w$])performance\b(?!\s*:)/g, "take the world's time"],
  [/\bMath\.random\b/g, "draw from the world's seeded random streams (lab/time/random.ts)"],
  [
    /\b(random(Bytes|UUID|Int)|getRandomValues)\b/g,
    "draw from the world's seeded random streams (lab/time/random.ts)",
  ],
]);

const isShipped = (file: SourceFile): boolean => !outside.includes(folderOf(file.path));

const resets = ban('resets', (file) => isShipped(file) && file.path !== 'server/host/reset.ts', [
  [/\.resetAndDestroy\b/g, 'use resetSocket of server/host/reset.ts, which leaves no handle behind'],
]);

const byteHelpers = ban(
  'bytes',
  (file) => coreFolders.includes(folderOf(file.path)) && file.path !== 'protocol/bytes.ts',
  [
    [/\.to(Locale)?UpperCase\b/g, 'leaves latin1; use asciiUpper of protocol/bytes.ts'],
    [/\.to(Locale)?LowerCase\b/g, 'is not ASCII; use asciiLower of protocol/bytes.ts'],
    [/\.trim(Start|End|Left|Right)?\(/g, 'eats byte 0xa0; put a helper into protocol/bytes.ts'],
    [
      /(?<![.\w$])Number\(/g,
      'accepts byte 0xa0 and nonsense; use parseInteger, parseDouble or narrow of protocol/bytes.ts',
    ],
    [/\bparse(Int|Float)\(/g, 'ignores trailing bytes; use parseInteger or parseDouble of protocol/bytes.ts'],
  ],
);

const typedArguments = ban('arguments', (file) => file.path.startsWith('server/'), [
  [
    /\b(argv|args|words|request)(\[[^\]\n]*\])!/g,
    'type argv by the arity (Argv<-3> of server/table/command.ts), or read wordAt(argv, at)',
  ],
  [
    /\bas (readonly )?(\[\s*)?Bytes\b/g,
    'type argv by the arity (Argv<-3> of server/table/command.ts), or check that the word is there',
  ],
]);

const actingGetters = ban('getters', (file) => coreFolders.includes(folderOf(file.path)), [
  [
    /^ {2}(static )?get #?\w+\(\)[^{\n]*\{\n(?:(?! {2}\}).*\n)*?.*?(\bthis(\.#?\w+)+ [-+*|&^]?=(?![=>])|\+\+|--)/gm,
    'a getter only gets: make it a method named by a verb',
  ],
]);

/** Where a version or a server's name may be asked for: the dialects, and what reads the command table's `since`. */
const dialectFiles =
  /^(server\/dialects\/|server\/table\/(fit|docs)\.ts$|server\/settings\/|server\/commands\/syntax\/index\.ts$)/;

const dialects: Rule = {
  name: 'dialects',
  *check(file) {
    const { path, text, code, comments } = file;
    const shipped = [
      ...coreFolders,
      'base',
      'start',
      'lab',
      'locks',
      'runners',
      'adapters',
      'cli',
      '.',
    ].includes(folderOf(path));
    if (!shipped || dialectFiles.test(path)) return;
    const cure = 'give the behaviour a name in server/dialects/dialect.ts, and ask for that';
    const reads = /\b[dD]ialect\w*(\(\))?\.(name|server|version|family)\b|\b(existsIn|sinceIn)\b/g;
    for (const match of code.matchAll(reads)) yield { at: match.index, cure: `${match[0]}: ${cure}` };
    for (const match of text.matchAll(/(===|!==|\bcase|startsWith\() ?['"`](redis|valkey)-?\d/g)) {
      if (comments[match.index] === ' ') yield { at: match.index, cure: `${match[0]}: ${cure}` };
    }
  },
};

const anyType = ban('any', (file) => !isTidyItself(file), [
  [/(?:[:<|&]\s*|\bas\s+)any\b(?!\s*[(.])/g, 'write the type, or unknown with a check'],
]);

const defaultExports = ban(
  'default-exports',
  (file) =>
    !/(^|\/)[^/]+\.config\.ts$|^(runners\/jest|adapters\/(redis-memory-server|ioredis-mock))\.ts$|^test\/support\/retries\/runner\.ts$|^docs\/site\/\.vitepress\/config\.ts$/.test(
      file.path,
    ),
  [[/\bexport\s+default\b|\bas\s+default\b/g, 'export by name']],
);

const focusedTests = ban('focused-tests', (file) => isTest(file) && !isTidyItself(file), [
  [
    /\b(test|it|describe|suite)(\.\w+)*\.only\b/g,
    'run one file instead: npx vitest run test/that.test.ts -t name',
  ],
  [
    /\b(test|it|describe|suite)(\.\w+)*\.(skip|todo)\b/g,
    'delete it, or say what it needs: skipIf(…) or context.skip(reason)',
  ],
  [/\.skip\(\s*\)/g, 'give the reason: context.skip(reason)'],
]);

const skipReasons: Rule = {
  name: 'skip-reasons',
  *check(file) {
    if (!isTest(file) || isTidyItself(file)) return;
    for (const match of file.code.matchAll(/\.(skipIf|runIf)\(/g)) {
      const statement = file.text.slice(match.index, match.index + 300).split('=>')[0] ?? '';
      if (!/needs /.test(statement) && !/^const \w+ =/m.test(lineAt(file.text, match.index))) {
        yield {
          at: match.index,
          cure: `${match[1]}: say in the title what is missing, '… (needs redis-server)'`,
        };
      }
    }
  },
};

/** In a world, a sleep of fixed time is exact. Only a test on real time waits longer or shorter than it says. */
const fixedSleeps = ban('sleeps', (file) => needs(file.path, 'realtime'), [
  [
    /new Promise\b[^;]{0,60}setTimeout/g,
    'wait for the event itself, or until(condition) of test/support/until.ts',
  ],
  [
    /(?<![.\w$])(sleep|delay)\(\s*[\d_]+/g,
    'wait for the event itself, or until(condition) of test/support/until.ts',
  ],
]);

const marks: Rule = {
  name: 'marks',
  *check(file) {
    if (isTidyItself(file)) return;
    for (const match of file.text.matchAll(/^(<{7}|>{7}) /gm)) {
      yield { at: match.index, cure: 'resolve the merge conflict' };
    }
    for (const match of file.comments.matchAll(/\b(TODO|FIXME|XXX|HACK)\b/g)) {
      yield {
        at: match.index,
        cure: `${match[0]}: do it now, or write an issue and say in the comment what holds today`,
      };
    }
  },
};

const opening: Rule = {
  name: 'opening',
  *check(file) {
    const comment = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//
      .exec(file.text)?.[1]
      ?.replace(/\s*\n\s*\*/g, ' ')
      .trim();
    if (comment === undefined || comment.length < 20 || !/[.!?)]$/.test(comment)) {
      yield { at: 0, cure: 'open the file with one sentence on what it is: /** … . */' };
    }
  },
};

const lengths: Rule = {
  name: 'length',
  *check(file) {
    let at = 0;
    for (const line of file.text.split('\n')) {
      const code = file.code.slice(at, at + line.length).replace(/\s+/g, ' ');
      const longest = isTest(file) ? 200 : 140;
      if (line.length > longest && (code.length > longest || code.trim() === '')) {
        yield { at, cure: `${line.length} characters, ${longest} at most: break the line` };
      }
      at += line.length + 1;
    }
  },
};

const glossary: Record<string, string> = { master: 'primary', slave: 'replica' };
const glossaryPattern = /\b\w*(master|slave)\w*\b(?!\s*[:(])/gi;

const words: Rule = {
  name: 'words',
  *check(file) {
    if (isTest(file)) return;
    const prose = file.comments.replace(/`[^`\n]*`|'[^'\n]*'/g, (quoted) => ' '.repeat(quoted.length));
    for (const view of [file.code, prose]) {
      for (const match of view.matchAll(glossaryPattern)) {
        const word = glossary[(match[1] ?? '').toLowerCase()];
        yield { at: match.index, cure: `${match[0]}: say ${word}; Redis' own wire names go between quotes` };
      }
    }
  },
};

const ascii: Rule = {
  name: 'ascii',
  *check(file) {
    for (const match of file.code.matchAll(/[^\n\t -~]/g)) {
      yield { at: match.index, cure: `${match[0]}: code is ASCII; only strings and comments may hold more` };
    }
  },
};

export const rules: readonly Rule[] = [
  layers,
  hostDoors,
  worlds,
  resets,
  byteHelpers,
  typedArguments,
  actingGetters,
  dialects,
  anyType,
  defaultExports,
  focusedTests,
  skipReasons,
  fixedSleeps,
  marks,
  opening,
  lengths,
  words,
  restating,
  retired,
  ascii,
];

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? text.length : end);
}
