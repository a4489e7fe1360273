/** Splits recorded bytes into the commands and replies in them, for people to read. */
import { beginning, readable } from '../../page/text.ts';

/** A command or reply, with the place in the bytes at which it ends. */
export interface Part {
  /** The words of a command; for a reply, one short text. */
  readonly words: readonly string[];
  readonly end: number;
}

/** The longest text of a word. */
const WORD = 60;
/** The longest text of one part. */
const SHOWN = 120;
/** The longest text of a message. */
const LONGEST = 400;

/** The complete commands in the bytes. What follows the last complete one is left out. */
export function commandsIn(bytes: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < bytes.length) {
    const line = lineAt(bytes, at);
    if (line === undefined) break;
    let words: string[] | undefined;
    if (bytes[at] === '*') {
      const count = Number(line.text.slice(1));
      words = [];
      let next = line.end;
      for (let i = 0; i < count; i++) {
        const head = lineAt(bytes, next);
        if (head === undefined) return parts;
        const size = Number(head.text.slice(1));
        if (!(head.end + size + 2 <= bytes.length)) return parts;
        words.push(bytes.slice(head.end, head.end + size));
        next = head.end + size + 2;
      }
      at = next;
    } else {
      words = line.text.split(' ').filter((word) => word !== '');
      at = line.end;
    }
    if (words.length > 0) parts.push({ words, end: at });
  }
  return parts;
}

/** The complete replies in the bytes. Pushes of RESP3 begin with `push`. */
export function repliesIn(bytes: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < bytes.length) {
    const reply = replyAt(bytes, at);
    if (reply === undefined) break;
    parts.push({ words: bytes[at] === '>' ? ['push', reply.text] : [reply.text], end: reply.end });
    at = reply.end;
  }
  return parts;
}

interface Read {
  readonly text: string;
  readonly end: number;
}

function lineAt(bytes: string, at: number): Read | undefined {
  const end = bytes.indexOf('\r\n', at);
  return end === -1 ? undefined : { text: bytes.slice(at, end), end: end + 2 };
}

function replyAt(bytes: string, at: number): Read | undefined {
  const line = lineAt(bytes, at);
  if (line === undefined) return undefined;
  const type = bytes[at] ?? '';
  const rest = line.text.slice(1);
  if ('$=!'.includes(type)) {
    const size = Number(rest);
    if (size < 0) return { text: 'nil', end: line.end };
    if (!(line.end + size + 2 <= bytes.length)) return undefined;
    return { text: bytes.slice(line.end, line.end + size), end: line.end + size + 2 };
  }
  if ('*~>%'.includes(type)) return collectionAt(bytes, line.end, Number(rest) * (type === '%' ? 2 : 1));
  return { text: type === '_' ? 'nil' : rest, end: line.end };
}

function collectionAt(bytes: string, from: number, count: number): Read | undefined {
  if (count < 0) return { text: 'nil', end: from };
  const texts: string[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    const item = replyAt(bytes, at);
    if (item === undefined) return undefined;
    if (texts.length < 8) texts.push(item.text);
    at = item.end;
  }
  return { text: `[${texts.join(', ')}${count > 8 ? ', ...' : ''}]`, end: at };
}

/** Parts as one short line. */
export function textOf(parts: readonly Part[]): string {
  const texts = parts.slice(0, 20).map(({ words }) => shortened(told(words).map(wordText).join(' '), SHOWN));
  return shortened(texts.join('; '), LONGEST);
}

/** The words to show. Of a script, its keys and arguments say more than its text or hash. */
function told(words: readonly string[]): readonly string[] {
  const [name = '', , count, ...rest] = words;
  return count !== undefined && /^eval(sha)?(_ro)?$/i.test(name) ? [name, '(script)', ...rest] : words;
}

function wordText(word: string): string {
  if (word === '') return '""';
  // Four bytes are one character at most.
  return shortened(readable(word.slice(0, 4 * WORD)), WORD);
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${beginning(text, most - 3)}...` : text;
}
