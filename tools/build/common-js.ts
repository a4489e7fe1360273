/** Turns the ES modules that esbuild writes into CommonJS modules, which both module systems load. */

/** Loads Node's modules `module` and `timers`, which test runners replace for what they load; and ioredis, an optional peer. */
export const NODE_REQUIRE = `const __nodeRequire = (name) => {
  const own = Reflect.get(module, "require");
  if (typeof own === "function") return own.call(module, name);
  const node = process.getBuiltinModule("node:module");
  return node.isBuiltin(name) ? process.getBuiltinModule(name) : node.createRequire(process.cwd() + "/")(name);
};`;

/**
 * Where a module of Node comes from. Bundlers that write ES modules cannot keep require(), so most come from `process`.
 */
const builtin = (name: string): string =>
  /^node:(?:timers|module)/.test(name) ? `__nodeRequire("${name}")` : `process.getBuiltinModule("${name}")`;

const loading = (path: string): string => {
  if (path.startsWith('node:')) return builtin(path);
  return `require("${path.replace(/^(\..*)\.js$/, '$1.cjs')}")`;
};

/** A function of node:crypto that loads the module when it is called. @param name its name, or `name as another` */
function late(name: string): string {
  const [from = '', own = from] = name.split(' as ');
  if (/^[A-Z]/.test(from)) throw new Error(`${from} of node:crypto is not a function`);
  return `const ${own} = (...given) => process.getBuiltinModule("node:crypto").${from}(...given);`;
}

/**
 * The CommonJS form of an ES module that esbuild has written. What a module imports becomes its constants, because esbuild's own
 * conversion calls two getters whenever an import is used.
 */
export function toCommonJs(code: string): string {
  const converted = code
    // It takes 3 ms to load, and most servers never need it. So its functions are looked up when they are called.
    .replace(/^import \{ ([^}]*) \} from "node:crypto";$/gm, (_, list: string) =>
      list.split(', ').map(late).join('\n'),
    )
    .replace(
      /^import (\{[^}]*\}) from "([^"]+)";$/gm,
      (_, list: string, path: string) => `const ${list.replaceAll(' as ', ': ')} = ${loading(path)};`,
    )
    .replace(
      /^import (?:\* as )?(\w+) from "([^"]+)";$/gm,
      (_, name: string, path: string) => `const ${name} = ${loading(path)};`,
    )
    .replace(/^import "([^"]+)";$/gm, (_, path: string) => `${loading(path)};`)
    // Jest runs CommonJS in a context that rejects import().
    .replace(/\bimport\("([^"]+)"\)/g, (_, path: string) => `Promise.resolve().then(() => ${loading(path)})`)
    // A bundler takes our dependencies with it, and leaves the optional peer alone.
    .replace(/\w+\(import\.meta\.url\)\("(denque|sorted-btree)"\)/g, 'require("$1")')
    .replace(/\w+\(import\.meta\.url\)\("ioredis"\)/g, '__nodeRequire("ioredis")')
    .replace(/\w+\(import\.meta\.url\)(?=;)/g, 'require')
    // A bundler that writes an ES module leaves the name undefined.
    .replaceAll('import.meta.dirname', '(typeof __dirname === "string" ? __dirname : "")')
    .replace(
      /^export \{([^}]*)\};$/gm,
      (_, list: string) => `Object.assign(exports, {${list.replace(/(\w+) as (\w+)/g, '$2: $1')}});`,
    );
  const [left] = /^(import|\}) .*from ".*";$|import\.meta|^export /m.exec(converted) ?? [];
  if (left !== undefined) throw new Error(`toCommonJs does not know '${left}'`);
  return converted;
}

/** Marks a CommonJS module as compiled: compilers take `default` only from such a module. */
export const MARK = 'Object.defineProperty(module.exports, "__esModule", { value: true });';

/**
 * Makes a CommonJS module's default export the module itself, with the other exports as its members, as ioredis' own entry is:
 * `const Redis = require('lostlock/ioredis-mock')`.
 */
export const DEFAULT_IS_MODULE = 'module.exports = Object.assign(module.exports.default, module.exports);';

/** The names of a module's exports, in a form that Node and other readers find without running it. */
export const namesForNode = (names: readonly string[]): string =>
  names.length === 0 ? '' : `0 && (${names.map((name) => `exports.${name} = `).join('')}0);`;

/** The ES module of an entry: it exports what the CommonJS module beside it does, so that both module systems have one copy. */
export function entryModule(file: string, exported: readonly string[]): string {
  const named = exported.filter((name) => name !== 'default');
  const lines =
    named.length === 0 ? [`import '${file}';`] : [`export { ${named.join(', ')} } from '${file}';`];
  // Node and bundlers do not agree on what the default import of such a module is.
  if (exported.includes('default'))
    lines.unshift(`import all from '${file}';`, 'export default all.default ?? all;');
  return `${lines.join('\n')}\n`;
}

/**
 * The ES module of the entry for Vitest, which refuses require(): the code itself, with Vitest as an ES module. What it shares with
 * other entries is theirs.
 */
export function moduleWithVitest(code: string, exported: readonly string[]): string {
  if (code.includes('__nodeRequire')) throw new Error('the entry for Vitest loads what it must not load');
  return `import * as vitest from 'vitest';
import { createRequire } from 'node:module';
const own = createRequire(import.meta.url);
const require = (name) => (name === 'vitest' ? vitest : own(name));
const exports = {};
${code}
const { ${exported.map((name) => `${name}: ${name}$`).join(', ')} } = exports;
export { ${exported.map((name) => `${name}$ as ${name}`).join(', ')} };
`;
}
