/** How many entries a consumer group has read, and how many it has not. Deletions can make both unknown. */
import type { StreamGroup } from './group.ts';
import { MIN_ID, type StreamId } from './id.ts';
import { counted, type StreamValue } from './stream.ts';

/**
 * How far a server trusts a group's count of entries that it has read:
 * - 'blindly': as long as no entry was deleted at or after the group's position. Deletions before the first entry that is
 *   left do not count, although the group may not have read the deleted entries (Redis 7.0).
 * - 'carefully': these deletions count too, and a group at a position before the first entry is counted again (Valkey 8.1).
 * - 'from the first entry': so is the lag of such a group, and the lag of an empty stream is 0 (Redis 8.0).
 */
export type GroupCounts = 'blindly' | 'carefully' | 'from the first entry';

/** Moves a group's position to an entry that is about to be delivered, and counts what the group has read. */
export function advance(stream: StreamValue, group: StreamGroup, id: StreamId, counts: GroupCounts): void {
  if (id <= group.lastId) return;
  const start = counts === 'blindly' ? id : group.lastId;
  const known =
    group.entriesRead !== undefined &&
    (counts === 'blindly' || start >= stream.firstId) &&
    !hasTombstones(stream, start, counts);
  if (known) group.entriesRead = counted(group.entriesRead! + 1n);
  else if (stream.entriesAdded !== 0n) group.entriesRead = entriesReadUpTo(stream, id, counts);
  stream.position(group, id);
}

/** How many entries a group has not read yet; undefined when deletions make that unknown. */
export function lag(stream: StreamValue, group: StreamGroup, counts: GroupCounts): bigint | undefined {
  const { entriesAdded, firstId, maxDeletedId } = stream;
  const { lastId, entriesRead } = group;
  if (entriesAdded === 0n) return 0n;
  if (counts === 'from the first entry') {
    if (stream.length === 0) return 0n;
    if (lastId < firstId && maxDeletedId < firstId) return BigInt(stream.length);
  }
  const known = entriesRead !== undefined && !hasTombstones(stream, lastId, counts);
  const read = known ? entriesRead : entriesReadUpTo(stream, lastId, counts);
  return read === undefined ? undefined : counted(entriesAdded - read);
}

/** True when XDEL may have deleted an entry at or after the id. */
function hasTombstones({ length, maxDeletedId, firstId }: StreamValue, start: StreamId, counts: GroupCounts) {
  if (length === 0 || maxDeletedId === MIN_ID) return false;
  return (counts !== 'blindly' || maxDeletedId >= firstId) && start <= maxDeletedId;
}

/** How many entries were ever added up to an id; undefined when that is unknown. */
export function entriesReadUpTo(stream: StreamValue, id: StreamId, counts: GroupCounts): bigint | undefined {
  const { entriesAdded, length, lastId, firstId, maxDeletedId } = stream;
  if (entriesAdded === 0n) return 0n;
  if (length === 0 && id <= lastId) return entriesAdded;
  if (counts !== 'blindly' && id !== MIN_ID && id < maxDeletedId) return undefined;
  if (id === lastId) return entriesAdded;
  if (id > lastId) return undefined;
  if (maxDeletedId === MIN_ID || maxDeletedId < firstId) {
    if (id < firstId) return counted(entriesAdded - BigInt(length));
    if (id === firstId) return counted(entriesAdded - BigInt(length) + 1n);
  }
  return undefined;
}
