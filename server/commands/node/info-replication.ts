/** The replication section of INFO (https://redis.io/docs/latest/commands/info/). */
import { lagOf } from '../../replication/follower.ts';
import type { ReplicaSide } from '../../replication/replica.ts';
import type { Server } from '../../server.ts';
import type { Field } from './info-figures.ts';

/** The share of a dataset that has arrived. Before its length is known, C divides by -1. */
function percentOf(received: number, length: number): string {
  if (received === 0) return length < 0 ? '-0.00' : '0.00';
  return length === 0 ? '0.00' : ((received / length) * 100).toFixed(2);
}

/** The fields of INFO replication, in 7.0's order. */
export function* replicationInfo(server: Server): Iterable<Field> {
  const { replication, primary } = server;
  yield ['role', primary === undefined ? 'master' : 'slave'];
  if (primary !== undefined) yield* linkInfo(server, primary);
  const followers = replication.online();
  yield ['connected_slaves', followers.length];
  if (server.settings['min-replicas-to-write'] > 0 && server.settings['min-replicas-max-lag'] > 0) {
    yield ['min_slaves_good_slaves', replication.good.count];
  }
  for (const [i, each] of followers.entries()) {
    const place = `ip=${replication.addressOf(each)},port=${each.port},state=online`;
    const shown = `${place},offset=${each.acknowledged},lag=${lagOf(server, each)}`;
    yield [`slave${i}`, shown + server.dialect.replicaInInfo];
  }
  yield ['replicas_waiting_psync', 0];
  yield ['master_failover_state', replication.failover.state];
  yield ['master_replid', replication.id];
  yield ['master_replid2', replication.secondId];
  yield ['master_repl_offset', replication.offset];
  yield ['second_repl_offset', replication.secondOffset];
  yield ['repl_backlog_active', replication.backlog === undefined ? 0 : 1];
  yield ['repl_backlog_size', server.settings['repl-backlog-size']];
  yield ['repl_backlog_first_byte_offset', replication.backlog?.firstByte ?? 0];
  yield ['repl_backlog_histlen', replication.backlog?.length ?? 0];
}

/** The fields about a replica's link to its primary. */
function* linkInfo(server: Server, primary: ReplicaSide): Iterable<Field> {
  const { replication } = server;
  const heard = primary.linkUp ? Math.floor((server.now - primary.heardAt) / 1000) : -1;
  yield ['master_host', primary.host];
  yield ['master_port', primary.port];
  yield ['master_link_status', primary.linkUp ? 'up' : 'down'];
  yield ['master_last_io_seconds_ago', heard];
  yield ['master_sync_in_progress', primary.state === 'sync' ? 1 : 0];
  yield ['slave_read_repl_offset', replication.offset + primary.unapplied];
  yield ['slave_repl_offset', replication.offset];
  // A dataset never waits for another connection here.
  yield ['replica_full_sync_buffer_size', 0];
  yield ['replica_full_sync_buffer_peak', 0];
  yield ['replicas_repl_buffer_size', 0];
  yield ['replicas_repl_buffer_peak', 0];
  yield ['master_current_sync_attempts', primary.attempts.current];
  yield ['master_total_sync_attempts', primary.attempts.total];
  if (primary.transfer !== undefined) {
    const { length, received } = primary.transfer;
    yield ['master_sync_total_bytes', length];
    yield ['master_sync_read_bytes', received];
    yield ['master_sync_left_bytes', length - received];
    yield ['master_sync_perc', percentOf(received, length)];
    yield ['master_sync_last_io_seconds_ago', Math.floor((server.now - primary.heardAt) / 1000)];
  }
  if (primary.linkUp) {
    yield ['master_link_up_since_seconds', Math.floor((server.now - primary.upSince) / 1000)];
    yield ['master_client_io_thread', 0];
  } else {
    const { downSince } = primary;
    const down = downSince === undefined ? -1 : Math.floor((server.now - downSince) / 1000);
    yield ['master_link_down_since_seconds', down];
    // Not a field of Redis.
    if (primary.trouble !== undefined) yield ['master_link_error', primary.trouble.replace(/[\r\n]+/g, ' ')];
  }
  yield ['total_disconnect_time_sec', Math.floor(replication.downtime / 1000)];
  yield ['slave_priority', server.settings['replica-priority']];
  yield ['slave_read_only', server.settings['replica-read-only'] ? 1 : 0];
  yield ['replica_announced', server.settings['replica-announced'] ? 1 : 0];
}
