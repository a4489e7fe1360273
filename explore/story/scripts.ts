/** Says what the scripts of a story do, which it calls by their digests: which commands they send. */
import { namesText } from './text.ts';

/** How many commands of a script are named. */
const MOST = 5;
/** A digest as stories show it. */
const DIGEST = /\b(?:script|EVAL(?:SHA)?(?:_RO)?) ([0-9a-f]{8})\b/g;
const COMMAND = /redis\.p?call\s*\(?\s*["']([a-z]+)["']/gi;

/**
 * The scripts that a text names, with their commands in the order in which they are written: `fab5aabd sends GET and DEL`. Empty without
 * scripts whose texts are known.
 * @param scripts the texts of scripts by their digests
 */
export function scriptsText(told: string, scripts: ReadonlyMap<string, string>): string {
  const digests = new Set([...told.matchAll(DIGEST)].map(([, digest = '']) => digest));
  const known = [...scripts].flatMap(([sha, text]) => {
    const digest = [...digests].find((each) => sha.startsWith(each));
    const commands = new Set([...text.matchAll(COMMAND)].map(([, name = '']) => name.toUpperCase()));
    if (digest === undefined || commands.size === 0) return [];
    const shown = [...commands].slice(0, MOST);
    return [`${digest} sends ${commands.size > MOST ? `${shown.join(', ')} and others` : namesText(shown)}`];
  });
  return known.join('; ');
}
