/** How a command is used, as one line of text: its arguments, with brackets around those that can be left out. */
import type { Argument } from './syntax.ts';

/** How the parts of a usage line look. */
export interface UsageStyle {
  /** The place of a value, such as `<key>`. */
  value(argument: Argument): string;
  /** What stands between choices. */
  readonly or: string;
  /** Puts choices into brackets of their own, where no others are around them. */
  group(choices: string): string;
  /** True: what may be given any number of times, or not at all, is shown once: `[<rule> ...]`. */
  readonly isBrief: boolean;
}

/** Returns the usage of the arguments. One that can be repeated is shown twice, unless it is a choice. */
export function usageOf(all: readonly Argument[], style: UsageStyle): string {
  return all.map((argument) => shown(argument, style)).join(' ');
}

function shown(argument: Argument, style: UsageStyle): string {
  const { type, token, optional, multiple, repeatsToken } = argument;
  const value = placeOf(argument, optional === true && multiple !== true, style);
  const once = token === undefined || type === 'pure-token' ? value : `${quoted(token)} ${value}`;
  if (style.isBrief && optional === true && multiple === true) return `[${once} ...]`;
  const again = repeatsToken === true ? once : value;
  const more = again.includes('|') ? '...' : `[${again} ...]`;
  const all = multiple === true ? `${once} ${more}` : once;
  return optional === true ? `[${all}]` : all;
}

function placeOf(argument: Argument, isBracketed: boolean, style: UsageStyle): string {
  const { name, type, token, parts = [] } = argument;
  if (type === 'pure-token') return quoted(token ?? name);
  if (type === 'block') return usageOf(parts, style);
  if (type !== 'oneof') return style.value(argument);
  const choices = parts.map((part) => shown(part, style)).join(style.or);
  return isBracketed && token === undefined ? choices : style.group(choices);
}

/** An empty word is shown as quotes. */
function quoted(token: string): string {
  return token === '' ? '""' : token;
}
