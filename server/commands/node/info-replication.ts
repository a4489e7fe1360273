/** The replication section of INFO (https://redis.io/docs/latest/commands/info/). */
import { lagOf, lagsBehind } from '../../replication/follower.ts';
import type { Server } from '../../server.ts';
import type { Field } from './info-figures.ts';

/** The fields of INFO replication, in 7.0's order. */
export function* replicationInfo(server: Server): Iterable<Field> {
  const { replication, primary } = server;
  yield ['role', primary === undefined ? 'master' : 'slave'];
  if (primary !== undefined) {
    const heard = primary.linkUp ? Math.floor((server.now - primary.heardAt) / 1000) : -1;
    yield ['master_host', primary.host];
    yield ['master_port', primary.port];
    yield ['master_link_status', primary.linkUp ? 'up' : 'down'];
    yield ['master_last_io_seconds_ago', heard];
    yield ['master_sync_in_progress', primary.state === 'sync' ? 1 : 0];
    if (primary.transfer !== undefined) {
      const { length, received } = primary.transfer;
      yield ['master_sync_total_bytes', length];
      yield ['master_sync_read_bytes', received];
      yield ['master_sync_left_bytes', length - received];
      yield ['master_sync_perc', length > 0 ? ((received / length) * 100).toFixed(2) : '0.00'];
      yield ['master_sync_last_io_seconds_ago', Math.floor((server.now - primary.heardAt) / 1000)];
    }
    yield ['slave_read_repl_offset', replication.offset];
    yield ['slave_repl_offset', replication.offset];
    if (!primary.linkUp) {
      yield ['master_link_down_since_seconds', Math.floor((server.now - primary.downSince) / 1000)];
      // Not a field of Redis.
      if (primary.trouble !== undefined)
        yield ['master_link_error', primary.trouble.replace(/[\r\n]+/g, ' ')];
    }
    yield ['slave_priority', server.settings['replica-priority']];
    yield ['slave_read_only', server.settings['replica-read-only'] ? 1 : 0];
    yield ['replica_announced', server.settings['replica-announced'] ? 1 : 0];
  }
  const followers = replication.online();
  yield ['connected_slaves', followers.length];
  yield ['replicas_waiting_psync', 0];
  if (server.settings['min-replicas-to-write'] > 0 && server.settings['min-replicas-max-lag'] > 0) {
    const lagMax = server.settings['min-replicas-max-lag'];
    yield ['min_slaves_good_slaves', followers.filter((each) => !lagsBehind(server, each, lagMax)).length];
  }
  for (const [i, each] of followers.entries()) {
    const place = `ip=${replication.addressOf(each)},port=${each.port},state=online`;
    yield [`slave${i}`, `${place},offset=${each.acknowledged},lag=${lagOf(server, each)}`];
  }
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
