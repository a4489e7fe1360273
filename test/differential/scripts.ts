/** Requests wrapped into Lua: redis.call and redis.pcall of generated commands, alone and several, in both protocols. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Random } from './random.ts';
import type { Request } from './requests.ts';

/** Runs every request that ARGV holds, each behind its count of words, and gathers the replies. */
const SEVERAL = `local out, at = {}, 1
while at <= #ARGV do
  local count = tonumber(ARGV[at])
  local reply = redis.pcall(unpack(ARGV, at + 1, at + count))
  if reply == nil then reply = 'nil' end
  out[#out + 1] = reply
  at = at + count + 1
end
return out`;

const TYPED = `local reply = redis.pcall(unpack(ARGV))
if type(reply) ~= 'table' then return {type(reply), reply} end
if reply.err then return {'error', reply.err} end
if reply.ok then return {'status', reply.ok} end
for _, kind in ipairs({'map', 'set', 'double', 'big_number', 'verbatim_string'}) do
  if reply[kind] ~= nil then return {kind, type(reply[kind])} end
end
return {'table', reply}`;

/** How one request is wrapped: the script and the rule for the wrapped reply. */
const WRAPPERS: readonly (readonly [Bytes, (inner: Request) => Request['rule']])[] = [
  ['return redis.call(unpack(ARGV))', ({ rule }) => rule],
  ['return redis.pcall(unpack(ARGV))', ({ rule }) => rule],
  ['redis.setresp(3); return redis.call(unpack(ARGV))', ({ rule }) => rule],
  ['redis.setresp(3)\nreturn redis.pcall(unpack(ARGV))', ({ rule }) => rule],
  [TYPED, ({ rule }) => ({ each: ['exact', rule] })],
  [`redis.setresp(3) ${TYPED}`, ({ rule }) => ({ each: ['exact', rule] })],
  [
    'local ok, reply = pcall(redis.call, unpack(ARGV)) return {tostring(ok), reply}',
    ({ rule }) => ({ each: ['exact', rule] }),
  ],
];

/** The requests inside a request that was made here; undefined for any other. */
export function callsOf(argv: readonly Bytes[]): Bytes[][] | undefined {
  if (!/^EVAL(_RO)?$/i.test(argv[0] ?? '') || argv[2] !== '0' || argv.length < 4) return undefined;
  if (argv[1] !== SEVERAL)
    return WRAPPERS.some(([script]) => script === argv[1]) ? [argv.slice(3)] : undefined;
  const calls: Bytes[][] = [];
  for (let at = 3; at < argv.length; at += Number(argv[at]) + 1) {
    calls.push(argv.slice(at + 1, at + 1 + Number(argv[at])));
  }
  return calls;
}

/** Whether the script answers a list with one element for each call; otherwise it answers the reply of its last or only call. */
export function gathers(argv: readonly Bytes[]): boolean {
  return argv[1] === SEVERAL;
}

/** A request that runs others inside a script. */
export function scripted(random: Random, next: () => Request): Request {
  if (random.percent(30)) {
    const inner = Array.from({ length: random.between(1, 4) }, next);
    const words = inner.flatMap(({ argv }) => [String(argv.length), ...argv]);
    return { argv: ['EVAL', SEVERAL, '0', ...words], rule: { each: inner.map(({ rule }) => rule) } };
  }
  const inner = next();
  const [script, wrap] = random.pick(WRAPPERS);
  const name = random.percent(10) ? 'EVAL_RO' : 'EVAL';
  return { argv: [name, script, '0', ...inner.argv], rule: wrap(inner) };
}
