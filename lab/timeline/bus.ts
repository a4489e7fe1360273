/** Splits recorded bytes of a cluster's bus into messages, for people to read. */
import { TYPES } from '../../cluster/message.ts';

const SIGNATURE = 'RCmb';
/** Where the header has the message's length and its type, in bytes. */
const LENGTH_AT = 4;
const TYPE_AT = 12;

/** True for bytes that begin with a message of the bus. */
export function isOfBus(bytes: string): boolean {
  return bytes.startsWith(SIGNATURE);
}

/** The complete messages in the bytes, by their types, and the place at which the last of them ends. */
export function busMessagesIn(bytes: string): { readonly text: string; readonly end: number } {
  const types: string[] = [];
  let end = 0;
  while (bytes.length - end > TYPE_AT + 1 && bytes.startsWith(SIGNATURE, end)) {
    const length = number(bytes, end + LENGTH_AT, 4);
    if (end + length > bytes.length || length <= TYPE_AT) break;
    types.push(TYPES[number(bytes, end + TYPE_AT, 2)] ?? 'unknown');
    end += length;
  }
  return { text: types.length === 0 ? '(part of the bus)' : `bus: ${types.join(', ')}`, end };
}

function number(bytes: string, at: number, size: number): number {
  let value = 0;
  for (let i = 0; i < size; i++) value = value * 256 + bytes.charCodeAt(at + i);
  return value;
}
