/** Prints a Sentinel's reply without what differs from run to run: ages, ids, and the order of its tables. */
import { printReply, type RawReply } from '../../support/reply-text.ts';

/** Fields that count milliseconds since something that each Sentinel does by its own clock, or the requests on their way. */
const VOLATILE = new Set([
  'link-pending-commands',
  'last-ping-sent',
  'last-ok-ping-reply',
  'last-ping-reply',
  'info-refresh',
  'role-reported-time',
  'last-hello-message',
]);

function itemsOf([, value]: RawReply): readonly RawReply[] {
  return Array.isArray(value) ? (value as readonly RawReply[]) : [];
}

function textOf([, value]: RawReply): string {
  return typeof value === 'string' ? value : '';
}

/** The fields of one instance. */
function instance(reply: RawReply): string {
  const items = itemsOf(reply);
  const fields: string[] = [];
  for (let i = 0; i + 1 < items.length; i += 2) {
    const field = textOf(items[i]!);
    let value = textOf(items[i + 1]!);
    if (VOLATILE.has(field)) value = /^\d+$/.test(value) ? '<n>' : `not a number: ${value}`;
    // Whether a connection has been refused by now is a matter of milliseconds.
    if (field === 'flags') value = value.replace(/,?\bdisconnected\b/, '');
    fields.push(`${field}=${value}`);
  }
  return `${reply[0]}{${fields.join(' ')}}`;
}

function sorted(reply: RawReply, print: (item: RawReply) => string): string {
  return `${reply[0]}[${itemsOf(reply).map(print).sort().join(', ')}]`;
}

/** The fields of COMMAND INFO, subcommands in any order. */
function commandInfo(reply: RawReply): string {
  const items = itemsOf(reply);
  const subcommands = items[9];
  if (subcommands === undefined) return printReply(reply);
  const own = items
    .slice(0, 9)
    .map((item) => (item[0] === '*' || item[0] === '~' ? sorted(item, printReply) : printReply(item)));
  return `${own.join(' ')} ${sorted(subcommands, commandInfo)}`;
}

/** The section of the Sentinel, and the titles of the others. */
function info(text: string): string {
  const lines = text.split('\r\n').filter((line) => /^(#|sentinel_|master\d)/.test(line));
  const primaries = lines
    .filter((line) => /^master\d/.test(line))
    .map((line) => line.replace(/^master\d+:/, ''));
  return [...lines.filter((line) => !/^master\d/.test(line)), ...primaries.sort()].join('|');
}

const LISTS = new Set(['masters', 'primaries', 'replicas', 'slaves', 'sentinels']);

/** One line for a reply to these words. */
export function printed(words: readonly string[], reply: RawReply): string {
  const [command = '', sub = ''] = words.map((word) => word.toLowerCase());
  if (reply[0] === '-') return printReply(reply);
  if (command === 'info') return `${reply[0]} ${info(textOf(reply))}`;
  if (command === 'hello') return printReply(reply).replace(/("?id"?,? \D*)\d+/, '$1<n>');
  if (command === 'role')
    return `${printReply(itemsOf(reply)[0]!)} ${sorted(itemsOf(reply)[1]!, printReply)}`;
  if (command === 'command' && sub === 'info') return itemsOf(reply).map(commandInfo).join('; ');
  if ((command === 'command' && sub === 'list') || (command === 'acl' && sub === 'cat'))
    return sorted(reply, printReply);
  if (command !== 'sentinel') return printReply(reply);
  if (LISTS.has(sub)) return sorted(reply, instance);
  if (sub === 'master' || sub === 'primary') return instance(reply);
  if (sub === 'help')
    return `${reply[0]} of status lines: ${itemsOf(reply).every(([marker]) => marker === '+')}`;
  if (sub === 'myid') return /^[0-9a-f]{40}$/.test(textOf(reply)) ? '<id>' : printReply(reply);
  if (sub === 'info-cache') return infoCache(reply);
  return printReply(reply);
}

/** Names, and for each node whether there is an INFO. Its age is left out. */
function infoCache(reply: RawReply): string {
  const items = itemsOf(reply);
  const groups: string[] = [];
  for (let i = 0; i + 1 < items.length; i += 2) {
    const nodes = itemsOf(items[i + 1]!).map((node) => (itemsOf(node)[1]?.[1] === null ? 'none' : 'some'));
    groups.push(`${textOf(items[i]!)}: ${nodes.join(' ')}`);
  }
  return groups.sort().join('; ');
}

/** Events that each Sentinel raises by its own clock, when nobody has answered for long enough. */
const BY_TIME = /^[+-](sdown|odown|tilt|try-failover|failover)/;

/** The events with each run of one kind in alphabetical order: tables have no order. */
export function ordered(events: readonly string[]): string[] {
  const runs: string[][] = [];
  for (const event of events) {
    const kind = (text: string | undefined): string => text?.split(' ')[0] ?? '';
    if (runs.length === 0 || kind(runs.at(-1)![0]) !== kind(event)) runs.push([]);
    runs.at(-1)!.push(event);
  }
  return runs.flatMap((run) => run.sort());
}

/** An event, or undefined for one that comes with time. */
export function printedEvent(message: RawReply): string | undefined {
  const [, , channel, text] = itemsOf(message).map(textOf);
  if (channel === undefined || text === undefined || BY_TIME.test(channel)) return undefined;
  return `${channel} ${text}`;
}
