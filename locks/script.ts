/** A Lua script with its SHA-1, under which the server remembers it. */
import { createHash } from 'node:crypto';

export interface ScriptText {
  readonly text: string;
  readonly sha: string;
}

export interface Script extends ScriptText {
  readonly name: string;
  /** For a cluster whose messages go to the node of their slot only: with SPUBLISH in place of PUBLISH. */
  readonly sharded: ScriptText;
}

/** Declares a script, which publishes, if at all, by `redis.call('publish', …`. `name` is for messages only. */
export function defineScript(name: string, text: string): Script {
  const plain = text.trim();
  const sharded = plain.replaceAll("redis.call('publish'", "redis.call('spublish'");
  return { name, ...digested(plain), sharded: digested(sharded) };
}

const digested = (text: string): ScriptText => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
});
