/** The rule that a word which was given up stays given up, in the names of files, types and exported functions. */
import type { Rule } from './rule.ts';

/**
 * The words that had several meanings or none, and what to say instead. To retire a word, add a line: first the word as one
 * part of a name (`player` finds `Player`, `RealPlayer`, `player.ts` and `playerOf`), then the cure.
 */
export const RETIRED: Readonly<Record<string, string>> = {
  cast: 'participants: the clients and nodes of a run',
  embed: 'start: the room starts nodes in this process',
  fold: 'tracker: what brings states to a moment',
  game: 'run: one plan, played once on a stage',
  hands: 'operator, or by hand',
  player: 'client: who runs the code on a stage',
  processes: 'real-servers: the lab on real servers',
  router: "stand-ins for Node's functions (lostlock/router keeps its name)",
  routes: "stand-ins for Node's functions",
  wire: 'connection, or TCP',
};

/** A file, type or function that may keep a retired word, because users or other programs know it by that name. */
const KEPT: ReadonlySet<string> = new Set(['RealInputOutput', 'lab/router.ts']);

/** In the lab and the explorer, `real` alone had two meanings. It is followed by one of these. */
const REAL = ['clock', 'server', 'servers'];

const declared =
  /^export (?:default )?(?:abstract )?(?:async )?(?:class|interface|type|enum|function\*?) (\w+)/gm;
const inner = /^(?:abstract )?(?:class|interface|type|enum) (\w+)/gm;

/** The words of a name: those of `RealPlayer` and of `real-player.ts` are `real` and `player`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function isRealAlone(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word, i) => word === 'real' && !REAL.includes(words[i + 1] ?? ''));
}

/** Finds retired words. */
export const retired: Rule = {
  name: 'retired',
  *check({ path, code }) {
    const found: { at: number; name: string }[] = [{ at: 0, name: path }];
    for (const pattern of [declared, inner])
      for (const match of code.matchAll(pattern)) found.push({ at: match.index, name: match[1] ?? '' });
    for (const { at, name } of found) {
      if (KEPT.has(name)) continue;
      for (const word of wordsOf(name)) {
        const cure = Object.hasOwn(RETIRED, word) ? RETIRED[word] : undefined;
        if (cure !== undefined) yield { at, cure: `${name}: '${word}' is retired; say ${cure}` };
      }
      if (/^(lab|explore)\//.test(path) && isRealAlone(name))
        yield {
          at,
          cure: `${name}: 'real' alone has two meanings; say real clock (our nodes on the machine's clock) or real servers`,
        };
    }
  },
};
