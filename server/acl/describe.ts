/** Describes a set of commands as rules: categories that fit well, then the remaining commands one by one. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Command } from '../table/command.ts';
import { categoriesOf } from '../table/info.ts';
import { categoriesIn, everyCommand } from './categories.ts';
import { describeDatabases } from './databases.ts';
import { Selector } from './selector.ts';

/** Counts the allowed and the forbidden commands of a category. */
function count(allowed: Uint8Array, members: readonly Command[]): { on: number; off: number } {
  let on = 0;
  for (const { serial } of members) on += allowed[serial] ?? 0;
  return { on, off: members.length - on };
}

/**
 * Returns the rules for a selector's commands. It starts with all or no commands, and repeatedly applies the category
 * that differs least, as long as it agrees more than it differs. The remaining commands are listed one by one.
 */
export function describeCommands(selector: Selector, asGiven: boolean): Bytes {
  if (asGiven) return [selector.future ? '+@all' : '-@all', ...selector.given].join(' ');
  const { commands } = selector;
  const built = new Selector(commands);
  const adds = !selector.future;
  const start = adds ? '-@all' : '+@all';
  const rules: Bytes[] = [start];
  built.apply(start);
  const left = selector.allowed.slice();
  const members = new Map<string, Command[]>(categoriesIn(commands).map((name) => [name, []]));
  for (const command of everyCommand(commands)) {
    // The categories are those of the dialect's server.
    if (command.spec.extra === true) continue;
    for (const category of categoriesOf(command)) members.get(category.slice(1))?.push(command);
  }
  for (;;) {
    let best: { name: string; different: number; same: number } | undefined;
    for (const [name, some] of members) {
      const { on, off } = count(left, some);
      const [same, different] = adds ? [on, off] : [off, on];
      if (same <= different) continue;
      const better =
        best === undefined ||
        different < best.different ||
        (different === best.different && same > best.same);
      if (better) best = { name, different, same };
    }
    if (best === undefined) break;
    rules.push(`${adds ? '+@' : '-@'}${best.name}`);
    built.setCategory(best.name, adds);
    for (const { serial } of members.get(best.name) ?? []) left[serial] = adds ? 0 : 1;
    members.delete(best.name);
  }
  for (const command of everyCommand(commands)) {
    const wanted = selector.allows(command);
    if (built.allows(command) !== wanted) {
      rules.push(`${wanted ? '+' : '-'}${command.fullName}`);
      built.set(command, wanted);
    }
    if (wanted) continue;
    for (const arg of selector.firstArguments.get(command.serial) ?? [])
      rules.push(`+${command.name}|${arg}`);
  }
  return rules.join(' ');
}

/** Returns a selector's rules for keys, channels, databases and commands, as in ACL LIST. */
export function describeSelector(selector: Selector, asGiven: boolean): Bytes {
  const words: Bytes[] = selector.describeKeys();
  if (!selector.allChannels) words.push('resetchannels');
  const databases = describeDatabases(selector.databases);
  words.push(...selector.describeChannels(), ...(databases === undefined ? [] : [databases]));
  words.push(describeCommands(selector, asGiven));
  return words.join(' ');
}
