/** Declares Lua scripts, with the SHA-1 under which the server caches them. */
import { createHash } from 'node:crypto';

/** A script's text and its SHA-1. */
export interface ScriptText {
  readonly text: string;
  readonly sha: string;
}

/** A script of the locks, in both of its forms. */
export interface LockScript extends ScriptText {
  readonly name: string;
  /**
   * The script with SPUBLISH instead of PUBLISH, for a cluster on which messages are sent to the node of their slot
   * only.
   */
  readonly sharded: ScriptText;
}

/** Computes the digest when the script is first sent, because a program uses few of the many scripts. */
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

/**
 * Declares a script. A script that publishes must use `redis.call('publish', …`.
 * @param name the script's name in messages
 */
export function defineScript(name: string, text: string): LockScript {
  const plain = text.trim();
  const sharded = plain.replaceAll("redis.call('publish'", "redis.call('spublish'");
  return Object.assign(new ScriptBody(plain), { name, sharded: new ScriptBody(sharded) });
}

/**
 * Writes without changing anything: to the first key that has a TTL or is a string. A key in its last millisecond is left alone: PEXPIRE
 * would give it another one, and waiters that ask all the time would keep a lock that nobody holds for ever.
 */
const STAMP = `
for k = 1, #KEYS do
  local left = redis.call('pttl', KEYS[k])
  if left > 0 then
    redis.call('pexpire', KEYS[k], left)
    break
  elseif left == -1 and redis.call('type', KEYS[k]).ok == 'string' then
    redis.call('set', KEYS[k], redis.call('get', KEYS[k]))
    break
  end
end`;

const stampedTexts = new WeakMap<ScriptText, ScriptText>();

/**
 * The script in a form that always writes. Since Redis 7.2 and Valkey 8, WAIT covers only the writes of its own
 * connection. A repeated request may find that it already has its grant; without a write, WAIT would answer at once,
 * whatever the replicas have (https://redis.io/docs/latest/commands/wait/).
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
