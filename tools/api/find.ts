/** Follows names through the files of declarations to where they are declared. */
import { type Declaration, readDeclarations } from './declarations.ts';

/** What a file exports under a name. */
export interface Exported {
  readonly declaration: Declaration;
  /** True where one of the files on the way exports it as a type only. */
  readonly asType: boolean;
}

/** Finds the declaration of a name in a file: there, or where the file has it from. */
export function find(path: string, name: string): Declaration | undefined {
  return findExported(path, name)?.declaration;
}

function findExported(path: string, name: string): Exported | undefined {
  const file = readDeclarations(path);
  const own = file.declared.get(name);
  if (own !== undefined) return { declaration: own, asType: file.exported.get(name)?.asType === true };
  const exported = file.exported.get(name);
  // `export { a };` of a name that the file imports leads to the import.
  const isHere = exported?.path === path && exported.name === name;
  const origin = exported === undefined || isHere ? file.imported.get(name) : exported;
  if (origin !== undefined) {
    const found = findExported(origin.path, origin.name);
    return found && { ...found, asType: found.asType || origin.asType === true };
  }
  for (const star of file.stars) {
    const found = findExported(star, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function namesOf(path: string): string[] {
  const file = readDeclarations(path);
  return [...file.exported.keys(), ...file.stars.flatMap(namesOf)];
}

/** The function that a constant stands for, when its type is `typeof lab.startPair`; otherwise the declaration itself. */
function lookedThrough(declaration: Declaration): Declaration {
  const [, whole = '', name = ''] = /^const \w+: typeof (\w+)\.(\w+);$/.exec(declaration.text) ?? [];
  const path = readDeclarations(declaration.path).namespaces.get(whole);
  return (path === undefined ? undefined : find(path, name)) ?? declaration;
}

/** What a file exports, by the names that it gives. */
export function exportsOf(path: string): Map<string, Exported> {
  const found = new Map<string, Exported>();
  for (const known of namesOf(path)) {
    const origin = readDeclarations(path).exported.get(known);
    const exported =
      origin === undefined ? findExported(path, known) : findExported(origin.path, origin.name);
    if (exported === undefined) throw new Error(`${path}: where is ${known} declared?`);
    const asType = exported.asType || origin?.asType === true;
    found.set(known, { declaration: lookedThrough(exported.declaration), asType });
  }
  return found;
}
