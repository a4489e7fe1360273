/** Templates of requests: `SET <string> <value> [(NX|XX)] [EX <seconds>]` read once, then written out at random. */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Random } from '../random.ts';

/*
 * A word stands for itself. <kind> is drawn by the word generator of that name (words.ts), which may give several words.
 * [a b] is there or not; (a|b|c) is one of them; {a b c} is all of them, sometimes in another order;
 * + behind any of these means once to four times, * none to three times.
 */
type Node =
  | { readonly kind: 'word'; readonly word: Bytes }
  | { readonly kind: 'draw'; readonly from: string }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'maybe'; readonly part: Node }
  | { readonly kind: 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'anyOrder'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number };

/** Draws words of a kind. */
export type Draw = (random: Random, kind: string) => Bytes[];

export class Template {
  readonly #root: Node;

  /** Throws for unbalanced brackets. */
  constructor(text: string) {
    const tokens = text.match(/<[^>]+>|[[\](){}|*+]|[^\s[\](){}|*+<]+/g) ?? [];
    let at = 0;
    const closing: Record<string, string> = { '[': ']', '(': ')', '{': '}' };

    const one = (): Node => {
      const token = tokens[at++] ?? '';
      let node: Node;
      if (token === '[') node = { kind: 'maybe', part: all(']') };
      else if (token === '(') node = either();
      else if (token === '{') node = { kind: 'anyOrder', parts: sequence('}') };
      else if (token.startsWith('<')) node = { kind: 'draw', from: token.slice(1, -1) };
      else node = { kind: 'word', word: token };
      if (tokens[at] !== '+' && tokens[at] !== '*') return node;
      return { kind: 'repeat', part: node, least: tokens[at++] === '+' ? 1 : 0 };
    };
    const sequence = (end: string): Node[] => {
      const parts: Node[] = [];
      while (tokens[at] !== end && tokens[at] !== '|') {
        if (at >= tokens.length) {
          if (end === '') return parts;
          throw new Error(`${end} is missing in: ${text}`);
        }
        if (Object.values(closing).includes(tokens[at] ?? ''))
          throw new Error(`${tokens[at]} too many in: ${text}`);
        parts.push(one());
      }
      if (end !== ')') at++;
      return parts;
    };
    const all = (end: string): Node => ({ kind: 'all', parts: sequence(end) });
    const either = (): Node => {
      const parts = [all(')')];
      while (tokens[at++] === '|') parts.push(all(')'));
      return { kind: 'either', parts };
    };
    this.#root = all('');
  }

  /** The words of one request made after this template. */
  write(random: Random, draw: Draw): Bytes[] {
    const out: Bytes[] = [];
    const visit = (node: Node): void => {
      switch (node.kind) {
        case 'word':
          out.push(random.percent(90) ? node.word : anyCase(random, node.word));
          break;
        case 'draw':
          out.push(...draw(random, node.from));
          break;
        case 'all':
          node.parts.forEach(visit);
          break;
        case 'maybe':
          if (random.percent(35)) visit(node.part);
          break;
        case 'either':
          visit(random.pick(node.parts));
          break;
        case 'anyOrder':
          (random.percent(70) ? node.parts : random.shuffle(node.parts)).forEach(visit);
          break;
        case 'repeat': {
          const times = random.pick([0, 0, 0, 1, 1, 2, 3]) + node.least;
          for (let i = 0; i < times; i++) visit(node.part);
        }
      }
    };
    visit(this.#root);
    return out;
  }

  /** Every kind of word that the template draws. */
  kinds(): string[] {
    const out: string[] = [];
    const visit = (node: Node): void => {
      if (node.kind === 'draw') out.push(node.from);
      if ('part' in node) visit(node.part);
      if ('parts' in node) node.parts.forEach(visit);
    };
    visit(this.#root);
    return out;
  }
}

/** The word in lower or mixed case. */
export function anyCase(random: Random, word: Bytes): Bytes {
  if (random.percent(60)) return word.toLowerCase();
  return [...word].map((letter) => (random.percent(50) ? letter.toLowerCase() : letter)).join('');
}
