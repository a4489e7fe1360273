/** The rules that concern the tree as a whole: circles of imports, patched methods, names used twice. */
import { docstrings } from './docstrings.ts';
import { imports, resolveFrom } from './imports.ts';
import type { Finding, TreeRule } from './rule.ts';
import type { SourceFile } from './source-text.ts';
import { suffixes } from './suffixes.ts';

const shipped =
  /^(base|protocol|keyspace|scripting|server|start|lab|locks|explore|page|playground|cli|runners|adapters)\/|^[^/]+\.ts$/;

/** The groups of files that import each other in a circle, by Tarjan's algorithm; imports of types count. */
export function circles(files: readonly SourceFile[]): string[][] {
  const known = new Set(files.map((file) => file.path));
  const targets = new Map(
    files.map((file) => [
      file.path,
      [...imports(file)]
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolveFrom(file.path, specifier))
        .filter((path) => known.has(path) && path !== file.path),
    ]),
  );
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (path: string): number => {
    order.set(path, order.size);
    let low = order.size - 1;
    stack.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target)!);
    }
    lowest.set(path, low);
    if (low === order.get(path)) {
      const group = stack.splice(stack.indexOf(path));
      if (group.length > 1) found.push(group.sort());
    }
    return low;
  };
  for (const { path } of files) if (!order.has(path)) visit(path);
  return found;
}

const noCircles: TreeRule = {
  name: 'circles',
  *check(files) {
    for (const group of circles(files)) {
      yield finding(
        group[0]!,
        `imports itself in a circle: ${group.join(', ')}. Move what they share into a file of its own, or take a narrow interface`,
      );
    }
  },
};

const methodPattern = /^ {2}(?:override )?\*?([a-z]\w*)(?:<[^>\n]*>)?\(/gm;
const fieldPattern = /^ {2}(?:readonly )?([a-z]\w*)[?!]?:/gm;
/** An assignment of a function to a member of something else than `this`. */
const assignedFunction =
  /(?<!\bthis)\.([a-z]\w*)\s*=\s*(?=(?:async\s*)?(?:\([^()]*\)|\w+)\s*(?::[^=;]+)?=>|(?:async\s+)?function\b|[\w.#]+\.bind\()/g;

const patchedMethods: TreeRule = {
  name: 'patches',
  *check(files) {
    const inside = files.filter(({ path }) => /^(server|keyspace|scripting|start)\//.test(path));
    const names = (pattern: RegExp): string[] =>
      inside.flatMap(({ code }) => [...code.matchAll(pattern)].map(([, name = '']) => name));
    const methods = new Set(names(methodPattern));
    // A member that some class declares as a field is made to be set.
    for (const name of names(fieldPattern)) methods.delete(name);
    for (const { path, code } of files) {
      for (const { 1: name = '', index: at } of code.matchAll(assignedFunction)) {
        if (!methods.has(name)) continue;
        yield { path, at, cure: `${name} is a method: give the node a port for it instead of replacing it` };
      }
    }
  },
};

const typePattern = /^(?:export )?(?:abstract )?(?:class|interface|type|enum) ([A-Z]\w*)/gm;

const typeNames: TreeRule = {
  name: 'type-names',
  *check(files) {
    const seen = new Map<string, string>();
    for (const file of files) {
      if (!shipped.test(file.path)) continue;
      for (const match of file.code.matchAll(typePattern)) {
        const [, name = ''] = match;
        const first = seen.get(name);
        if (first === undefined) seen.set(name, file.path);
        else if (first !== file.path)
          yield {
            path: file.path,
            at: match.index,
            cure: `${name} is also a type of ${first}: one name for one thing`,
          };
      }
    }
  },
};

function finding(path: string, cure: string): Finding & { path: string } {
  return { path, at: 0, cure };
}

/** The rules about the tree. */
export const treeRules: readonly TreeRule[] = [noCircles, patchedMethods, typeNames, docstrings, suffixes];
