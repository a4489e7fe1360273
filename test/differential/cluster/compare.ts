/** Prints replies of CLUSTER so that two clusters can be compared: without times, in an order that does not depend on hashes. */
import type { RawReply } from '../../support/reply-text.ts';
import { printReply } from '../../support/reply-text.ts';

/** Replies in the order of a hash table, whose seed each server draws, by the command and its first argument. */
const UNORDERED = /^(KEYS|CLUSTER (SHARDS|LINKS|GETKEYSINSLOT|REPLICAS|SLAVES|SLOTS)|SCAN|CONFIG GET)\b/;

/** A line of CLUSTER NODES without times and without what an idle connection does. */
function withoutTimes(line: string): string {
  const words = line.split(' ');
  if (words.length < 8) return line;
  words[1] = (words[1] ?? '').replace(/@\d+/, '@BUS');
  words[4] = '0';
  words[5] = '0';
  return words.join(' ');
}

/** The reply with every text replaced. */
function mapped([marker, value]: RawReply, hide: (text: string) => string): RawReply {
  if (value === null) return [marker, value];
  return [marker, typeof value === 'string' ? hide(value) : value.map((item) => mapped(item, hide))];
}

function lines(text: string): string {
  return text.split('\n').map(withoutTimes).sort().join('\n');
}

/** The reply as one line. `hide` replaces ids and ports. `queue` has the commands of the transaction that EXEC runs. */
export function printed(
  words: readonly string[],
  [marker, value]: RawReply,
  hide: (text: string) => string,
  queue: readonly (readonly string[])[] = [],
): string {
  if (words[0] === 'EXEC' && Array.isArray(value)) {
    return `${value.length} replies\n${value.map((each, i) => printed(queue[i] ?? [], each, hide)).join('\n')}`;
  }
  const name = words.join(' ').toUpperCase();
  if (typeof value === 'string') {
    const text = hide(value);
    if (/^CLUSTER NODES/.test(name)) return `${marker}${lines(text)}`;
    if (/^CLUSTER INFO/.test(name)) {
      const counted = text.replace(/cluster_stats_messages_.*\r\n/g, '');
      return `${marker}${counted.replace(/(cluster_stats_\w*bytes\w*):\d+/g, '$1:N')}`;
    }
    if (/^RANDOMKEY/.test(name) && value !== '') return 'a key';
    // The text of a script's error ends with the hash of the script, which both sides compute.
    return printReply([marker, text]);
  }
  // What is left of ids are those of shards.
  const isShards = /^CLUSTER SHARDS/.test(name);
  const hidden = mapped([marker, value], (text) =>
    isShards ? hide(text).replace(/^[0-9a-f]{40}$/, 'SHARD') : hide(text),
  );
  if (!UNORDERED.test(name)) return printReply(hidden);
  if (/^CLUSTER (REPLICAS|SLAVES)/.test(name) && value !== null) {
    return (value as readonly RawReply[])
      .map(([, line]) => withoutTimes(hide(String(line))))
      .sort()
      .join('\n');
  }
  return (
    printReply(hidden, true)
      // A link may have bytes to send at the moment.
      .replaceAll('"rw"', '"r"')
      .replace(/"(create-time|send-buffer-allocated|send-buffer-used|replication-offset)"/g, '')
      .replace(/^CLUSTER LINKS/.test(name) ? /:\d+/g : /:\d{2,}/g, ':N')
  );
}
