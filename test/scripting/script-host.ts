/** A host for scripts with a few commands over a Map, for tests of scripting/ without a server. */
import { allowance, UNLIMITED_MEMORY } from '../../protocol/allowance.ts';
import { asciiLower, type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import {
  BigNumber,
  Double,
  MapReply,
  OK,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../../protocol/reply.ts';
import { Execution } from '../../scripting/execution.ts';
import { compile } from '../../scripting/registry.ts';
import type { ScriptHost } from '../../scripting/runtime/host.ts';
import { Random48 } from '../../scripting/runtime/random48.ts';
import type { Words } from '../../scripting/runtime/state.ts';

type Stored = Bytes | Map<Bytes, Bytes>;

const ARITY: Record<string, number> = { set: 3, get: 2, del: 2, incr: 2, hset: 4, hgetall: 2, keys: 2 };
const WRONG_ARITY = 'ERR Wrong number of args calling Redis command from script';

/** Stores strings and hashes, and counts calls. */
export class FakeHost implements ScriptHost {
  readonly store = new Map<Bytes, Stored>();
  readonly logged: Bytes[] = [];
  readonly random = new Random48();
  calls = 0;

  call(argv: Bytes[]): Reply {
    this.calls++;
    const [name = '', key = '', field = '', value = ''] = argv;
    const arity = ARITY[asciiLower(name)];
    if (arity === undefined) return new ReplyError('ERR Unknown Redis command called from script');
    if (name === 'set' && argv.length > 3) return new ReplyError('ERR syntax error');
    if (argv.length !== arity) return new ReplyError(WRONG_ARITY);
    switch (asciiLower(name)) {
      case 'set':
        this.store.set(key, field);
        return OK;
      case 'get':
        return (this.store.get(key) as Bytes | undefined) ?? null;
      case 'del':
        return this.store.delete(key) ? 1 : 0;
      case 'incr':
        return this.#increment(key);
      case 'hset':
        this.#hash(key).set(field, value);
        return 1;
      case 'hgetall':
        return new MapReply([...this.#hash(key)].flat());
      default:
        return [...this.store.keys()];
    }
  }

  log(level: number, text: Bytes): void {
    this.logged.push(`${level} ${text}`);
  }

  setProtocol(): void {
    // its replies are the same under both
  }

  setReplication(): void {
    // nothing is replicated
  }

  allowed(argv: Bytes[]): boolean | Bytes {
    return argv[0] === 'get' ? true : 'Invalid command passed to';
  }

  #hash(key: Bytes): Map<Bytes, Bytes> {
    const found = this.store.get(key);
    if (found instanceof Map) return found;
    const hash = new Map<Bytes, Bytes>();
    this.store.set(key, hash);
    return hash;
  }

  #increment(key: Bytes): Reply {
    const present = (this.store.get(key) as Bytes | undefined) ?? '0';
    if (parseSafeInteger(present) === undefined)
      return new ReplyError('ERR value is not an integer or out of range');
    const next = +present + 1;
    this.store.set(key, `${next}`);
    return next;
  }
}

/** A reply as a RESP2 client sees it, as text for comparison. */
export function show(reply: Reply): string {
  if (reply === null) return 'nil';
  if (typeof reply === 'string') return JSON.stringify(reply);
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}`;
  if (typeof reply === 'boolean') return reply ? ':1' : ':0';
  if (reply instanceof SimpleString) return `+${reply.text}`;
  if (reply instanceof ReplyError) return `-${reply.text}`;
  if (reply instanceof Double) return JSON.stringify(`${reply.value}`);
  if (reply instanceof BigNumber) return JSON.stringify(reply.digits);
  if (reply instanceof Verbatim) return JSON.stringify(reply.text);
  const items = reply instanceof MapReply || reply instanceof SetReply ? reply.items : (reply as Reply[]);
  return `[${items.map(show).join(', ')}]`;
}

/** One key and two arguments. */
export const INPUT: Words = { argv: ['EVAL', 'the script', '1', 'k1', 'a1', 'a2'], firstKey: 3, keys: 1 };

/** Runs a script with one key and two arguments. Returns its reply as text, without the SHA-1. */
export function evaluate(source: Bytes, host: ScriptHost = new FakeHost()): string {
  return answer(() => compile(source).run(INPUT, host));
}

/** Like evaluate, but the script is interrupted at once and then every few steps. */
export function evaluateInSlices(source: Bytes, host: ScriptHost = new FakeHost(), fuel = 7): string {
  return answer(() => {
    const result = compile(source).start(INPUT, host, 0);
    if (!(result instanceof Execution)) return result;
    for (;;) {
      const reply = result.step(fuel);
      if (reply !== undefined) return reply;
    }
  });
}

/** An error's text without the script's SHA-1. */
export function withoutSha(text: string): string {
  return text.replace(/script: [0-9a-f]{40}/, 'script: <sha>');
}

function answer(run: () => Reply): string {
  let reply: Reply;
  // Without a server nothing limits the memory, but a node that another test of the process had is still asked.
  allowance.begin(UNLIMITED_MEMORY);
  try {
    reply = run();
  } catch (thrown) {
    if (!(thrown instanceof ReplyError)) throw thrown;
    reply = thrown;
  }
  return withoutSha(show(reply));
}
