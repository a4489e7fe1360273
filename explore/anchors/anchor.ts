/** An anchor: the event of a client after which a fault strikes, as a value, as a short text, and in words. */

/** How far a request has come: sent; executed by the node, and not yet answered; or answered. */
const SIDES = ['sent', 'executed', 'answered'] as const;

/** What a client does at a resource. */
const ACTS = ['enters', 'writes', 'leaves'] as const;

/** The last request that was answered before a client entered a resource. */
export const GRANT = 'grant';

/** An event of a client, named so that it is found again when other parts of the code have changed. */
export interface Anchor {
  /** The client's name. */
  readonly client: string;
  /**
   * A command in capital letters; `script-` and the beginning of a script's SHA-1; `enters`, `writes` or `leaves`; or `grant` for the
   * last request before an entry, which is found whatever it was and however often it was refused before.
   */
  readonly what: string;
  /** The first key of the command, or the resource; empty for none, and for a key that looks random. */
  readonly of: string;
  /** Which of the client's events of this kind, the first of which is 1. */
  readonly nth: number;
  /** How far the request has come; empty for an act at a resource. */
  readonly side: (typeof SIDES)[number] | '';
  /** How long after the event the fault strikes, in milliseconds; 0 for at once. */
  readonly later: number;
}

/** An anchor's text, such as `A.SET.stock~lock.2.executed` or `A.enters.stock.1+260`. */
export function anchorText({ client, what, of, nth, side, later }: Anchor): string {
  const parts = [client, escaped(what), escaped(of), nth, side].filter((part, i) => i < 4 || part !== '');
  return `${parts.join('.')}${later === 0 ? '' : `+${later}`}`;
}

/** Reads what `anchorText` writes; undefined for any other text. */
export function anchorOf(text: string): Anchor | undefined {
  const found = /^(\w+)\.([^.]+)\.([^.]*)\.([1-9]\d*)(?:\.(\w+))?(?:\+(\d+(?:\.\d+)?))?$/.exec(text);
  if (found === null) return undefined;
  const [, client = '', what = '', of = '', nth, side = '', later = '0'] = found;
  const isAct = (ACTS as readonly string[]).includes(what);
  if (isAct ? side !== '' : !(SIDES as readonly string[]).includes(side)) return undefined;
  try {
    return {
      ...{ client, what: unescaped(what), of: unescaped(of), nth: Number(nth) },
      ...{ side: side as Anchor['side'], later: Number(later) },
    };
  } catch {
    // Not a text that was escaped.
    return undefined;
  }
}

/** The anchor in words: `after A's 2nd SET of stock:lock was executed, before its reply`. */
export function anchorWords(anchor: Anchor): string {
  const { client, what, nth, side, later } = anchor;
  const name = what === GRANT ? `grant of ${anchor.of}` : `${what}${ofWhat(anchor)}`;
  const when = later === 0 ? 'after' : `${later} ms after`;
  if (side === '') {
    const act = { enters: 'entered', writes: 'wrote to', leaves: 'left' }[what] ?? what;
    return `${when} ${client} ${act} ${anchor.of}${nth === 1 ? '' : ` for the ${ordinal(nth)} time`}`;
  }
  if (side === 'sent')
    return `${when} ${client} sent its ${ordinal(nth)} ${name}${later === 0 ? ', before it was executed' : ''}`;
  if (side === 'answered') return `${when} the reply to ${client}'s ${ordinal(nth)} ${name}`;
  return `${when} ${client}'s ${ordinal(nth)} ${name} was executed${later === 0 ? ', before its reply' : ''}`;
}

/** Says that a client does not do what an anchor names. @param count how often it does */
export function missingWords(anchor: Anchor, count: number): string {
  const { client, what, side } = anchor;
  const times = count === 0 ? 'never' : count === 1 ? 'only once' : `only ${count} times`;
  if (side === '') {
    const act = { enters: 'enters', writes: 'writes to', leaves: 'leaves' }[what] ?? what;
    return `${client} ${times} ${act} ${anchor.of}`;
  }
  if (what === GRANT) return `${client} ${times} enters ${anchor.of}`;
  const verb = { sent: 'sends', executed: 'has', answered: 'gets a reply to' }[side];
  return `${client} ${times} ${verb} ${what}${ofWhat(anchor)}${side === 'executed' ? ' executed' : ''}`;
}

/** True when both are the same event. */
export function isSameEvent(one: Anchor, other: Anchor): boolean {
  return isOfKind(one, other) && one.nth === other.nth && one.side === other.side;
}

/** True when both are the same request or act, perhaps another one of several. */
export function isOfKind(one: Anchor, other: Anchor): boolean {
  return one.client === other.client && one.what === other.what && one.of === other.of;
}

function ofWhat({ of }: Anchor): string {
  return of === '' ? '' : ` of ${of}`;
}

function ordinal(nth: number): string {
  const isTeen = nth % 100 > 10 && nth % 100 < 14;
  return `${nth}${isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][nth % 10] ?? 'th')}`;
}

/** Keys often have colons, which separate the parts of a replay text. */
function escaped(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('~', '%7E')
    .replaceAll('%3A', '~')
    .replace(/[.!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function unescaped(text: string): string {
  return decodeURIComponent(text.replaceAll('~', '%3A'));
}
