/** What all subcommands of LAB have in common in the table of commands, and how a control's error becomes a reply. */
import { fromText } from '../../protocol/bytes.ts';
import { OK, type Reply, ReplyError } from '../../protocol/reply.ts';
import type { Flag } from '../../server/table/command.ts';

const FLAGS: readonly Flag[] = ['admin', 'noscript', 'no_multi', 'loading', 'stale'];
/** What the table says about each of them. */
export const about = { since: '1.0.0', complexity: 'O(1)', flags: FLAGS } as const;

/** What the table says about LAB. */
export const HEAD = {
  summary: 'Controls the lab: nodes, links, clocks and failovers.',
  since: '1.0.0',
  complexity: 'O(1)',
  flags: [],
} as const;

/** Runs a control that ends at once. */
export function done(control: () => void): Reply {
  attempt(control);
  return OK;
}

/** The error reply for what a control has thrown. */
export function problem(error: unknown): ReplyError {
  if (error instanceof ReplyError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ReplyError(fromText(`ERR ${text.replace(/\s+/g, ' ')}`));
}

/** Runs a control, and turns what it throws into an error reply. */
export function attempt<T>(control: () => T): T {
  try {
    return control();
  } catch (error) {
    throw problem(error);
  }
}
