/** Turns what a user's command returns or throws into a reply. */
import { inspect } from 'node:util';
import { fromText } from '../../protocol/bytes.ts';
import { Double, MapReply, type Reply, ReplyError, SetReply, SimpleString } from '../../protocol/reply.ts';
import { encodeText } from '../text.ts';
import type { OwnReply } from './own-command.ts';

const INT64_MAX = 2n ** 63n - 1n;
/** An error's code: what stands before the first blank, in capitals. */
const CODE = /^[A-Z][A-Z0-9_]*( |$)/;

/** The reply of an Error. Clients read one line, so line breaks become blanks. */
export function errorReply(error: unknown): ReplyError {
  if (error instanceof ReplyError) return error;
  const text = error instanceof Error || isErrorLike(error) ? error.message : String(error);
  const line = text.replace(/[\r\n]+/g, ' ');
  return new ReplyError(fromText(CODE.test(line) ? line : `ERR ${line}`));
}

/** True for an Error, also of another realm, as in Jest and node:vm. */
export function isErrorLike(value: unknown): value is Error {
  return Object.prototype.toString.call(value) === '[object Error]';
}

/** The reply of what a command has returned. Throws TypeError for what is none. */
export function replyOf(value: OwnReply): Reply {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'boolean':
      return value;
    case 'string':
      return fromText(value);
    case 'number':
      return Number.isSafeInteger(value) ? value : new Double(value);
    case 'bigint':
      if (value > INT64_MAX || value < -INT64_MAX - 1n) throw new TypeError(`${value} does not fit 64 bits`);
      return value;
    case 'object':
      return value === null ? null : composed(value);
    default:
      return unfit(value);
  }
}

function composed(value: object): Reply {
  if (value instanceof Uint8Array) return encodeText(value);
  if (Array.isArray(value)) return value.map(replyOf);
  if (isErrorLike(value)) return errorReply(value);
  const kind = Object.prototype.toString.call(value);
  if (kind === '[object Map]')
    return new MapReply([...(value as ReadonlyMap<OwnReply, OwnReply>)].flat(1).map(replyOf));
  if (kind === '[object Set]') return new SetReply([...(value as ReadonlySet<OwnReply>)].map(replyOf));
  const { ok } = value as { ok?: unknown };
  if (typeof ok === 'string') return new SimpleString(fromText(ok.replace(/[\r\n]+/g, ' ')));
  return unfit(value);
}

function unfit(value: unknown): never {
  if (typeof (value as { then?: unknown } | null)?.then === 'function') {
    // Nobody waits for it. If it rejects, Node would end the process.
    Promise.resolve(value).catch(() => {});
    throw new TypeError('a command must answer at once, and this one has returned a promise');
  }
  throw new TypeError(
    `a command has returned ${inspect(value, { depth: 0 })}; allowed: text, bytes, numbers, booleans, null, { ok: 'OK' }, an Error, and arrays, Sets and Maps of these`,
  );
}
