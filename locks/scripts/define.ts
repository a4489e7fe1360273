/** A Lua script with its SHA-1, under which the server remembers it. */
import { createHash } from 'node:crypto';

export interface ScriptText {
  readonly text: string;
  readonly sha: string;
}

export interface LockScript extends ScriptText {
  readonly name: string;
  /** For a cluster whose messages go to the node of their slot only: with SPUBLISH in place of PUBLISH. */
  readonly sharded: ScriptText;
}

/** A script whose digest is made when it is first sent: there are many scripts, and a program uses few. */
class ScriptBody implements ScriptText {
  readonly text: string;
  #sha: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get sha(): string {
    this.#sha ??= createHash('sha1').update(this.text).digest('hex');
    return this.#sha;
  }
}

/** Declares a script, which publishes, if at all, by `redis.call('publish', …`. `name` is for messages only. */
export function defineScript(name: string, text: string): LockScript {
  const plain = text.trim();
  const sharded = plain.replaceAll("redis.call('publish'", "redis.call('spublish'");
  return Object.assign(new ScriptBody(plain), { name, sharded: new ScriptBody(sharded) });
}

/** Changes nothing, but is a write all the same: of the first key that has a TTL or is a string. */
const STAMP = `
for k = 1, #KEYS do
  local left = redis.call('pttl', KEYS[k])
  if left >= 0 then
    redis.call('pexpire', KEYS[k], math.max(left, 1))
    break
  elseif left == -1 and redis.call('type', KEYS[k]).ok == 'string' then
    redis.call('set', KEYS[k], redis.call('get', KEYS[k]))
    break
  end
end`;

const stampedTexts = new WeakMap<ScriptText, ScriptText>();

/**
 * The script in a form that always writes. Since Redis 7.2 and Valkey 8, WAIT covers a connection's own writes only, and a
 * request that is asked again may find that it has its grant already: without a write WAIT would answer at once, whatever
 * the replicas have.
 */
export function stamped(script: ScriptText): ScriptText {
  let text = stampedTexts.get(script);
  if (!text) {
    text = new ScriptBody(
      `local function run()\n${script.text}\nend\nlocal reply = run()${STAMP}\nreturn reply`,
    );
    stampedTexts.set(script, text);
  }
  return text;
}
