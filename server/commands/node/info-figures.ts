/** The fields of INFO that are counted when they are asked for (https://redis.io/docs/latest/commands/info/). */
import type { Keyspace } from '../../../keyspace/keyspace.ts';
import { shows } from '../../figures/info-fields.ts';
import type { Statistics } from '../../figures/statistics.ts';
import type { Server } from '../../server.ts';

/** One line of INFO: the name and the value. */
export type Field = readonly [string, string | number];

/** Where the node listens. */
export function* listeners({ settings, dialect }: Server): Iterable<Field> {
  if (!shows(dialect.infoFields, 'listeners')) return;
  const addresses = settings.bind.split(' ').map((address) => `bind=${address}`);
  const open: string[] = [];
  if (settings.port !== 0) open.push(`name=tcp,${addresses.join(',')},port=${settings.port}`);
  if (settings.unixsocket !== '') open.push(`name=unix,bind=${settings.unixsocket}`);
  const tls = settings['tls-port'];
  if (tls !== 0) open.push(`name=tls,${addresses.join(',')},port=${tls}`);
  for (const [i, listener] of open.entries()) yield [`listener${i}`, listener];
}

/** How many clients subscribe, and how many watch keys. */
export function* clientStates({ clients }: Server): Iterable<Field> {
  let [subscribers, watching] = [0, 0];
  for (const { subscriptions, watches } of clients.values()) {
    if (subscriptions.total > 0) subscribers++;
    if (watches.size > 0) watching++;
  }
  yield ['pubsub_clients', subscribers];
  yield ['watching_clients', watching];
}

/** Turns of the event loop, and the microseconds spent in them: those of the commands, which are all that is measured. */
export function* eventLoop({ stats, now }: Server): Iterable<Field> {
  let micros = 0;
  for (const [serial, times] of stats.times.entries()) {
    if (times !== undefined) micros += (times.micros * (stats.calls[serial] ?? 0)) / times.measured;
  }
  const rates = stats.rates(now);
  yield ['eventloop_cycles', stats.turns];
  yield ['eventloop_duration_sum', Math.round(micros)];
  yield ['eventloop_duration_cmd_sum', Math.round(micros)];
  yield ['instantaneous_eventloop_cycles_per_sec', Math.round(rates.turns)];
  yield ['instantaneous_eventloop_duration_usec', stats.turns === 0 ? 0 : Math.round(micros / stats.turns)];
}

/** Network traffic, in total and per second. */
export function* traffic({ stats, now }: Server): Iterable<Field> {
  const rates = stats.rates(now);
  const kilobytes = (bytes: number): string => (bytes / 1024).toFixed(2);
  yield ['instantaneous_ops_per_sec', Math.round(rates.commands)];
  yield ['total_net_input_bytes', stats.bytesIn];
  yield ['total_net_output_bytes', stats.bytesOut];
  yield ['total_net_repl_input_bytes', stats.linkBytesIn];
  yield ['total_net_repl_output_bytes', stats.linkBytesOut];
  yield ['total_net_cluster_slot_import_bytes', 0];
  yield ['total_net_cluster_slot_export_bytes', 0];
  yield ['instantaneous_input_kbps', kilobytes(rates.bytesIn)];
  yield ['instantaneous_output_kbps', kilobytes(rates.bytesOut)];
  yield ['instantaneous_input_repl_kbps', kilobytes(rates.linkBytesIn)];
  yield ['instantaneous_output_repl_kbps', kilobytes(rates.linkBytesOut)];
}

/** The largest buffers of any connection. */
export function* clientBuffers(server: Server): Iterable<Field> {
  let [input, output] = [0, 0];
  for (const client of server.clients.values()) {
    input = Math.max(input, client.decoder.buffered);
    output = Math.max(output, client.output.pending);
  }
  yield ['client_recent_max_input_buffer', input];
  yield ['client_recent_max_output_buffer', output];
}

/** How many deadlines are sampled for the average. */
const SAMPLE = 100;

/** Estimates the average time to live of keys with a deadline, in milliseconds. */
export function averageTtl(server: Server, db: Keyspace): number {
  if (db.volatile === 0) return 0;
  let [sum, count, seen] = [0, 0, 0];
  for (const entry of db.entries.unordered()) {
    const expiresAt = db.expiresAt(entry);
    if (expiresAt !== undefined) {
      sum += Math.max(0, expiresAt - server.now);
      count++;
    }
    if (count >= SAMPLE || ++seen >= SAMPLE * 10) break;
  }
  return count === 0 ? 0 : Math.floor(sum / count);
}

/** What has expired. The active figures are about keys and fields that the timer removed. */
export function* expired({ expired: keys, expiredFields, expiredActively }: Statistics): Iterable<Field> {
  yield ['expired_subkeys', expiredFields];
  yield ['expired_subkeys_active', expiredActively.fields];
  yield ['expired_keys', keys];
  yield ['expired_keys_active', expiredActively.keys];
  yield ['expired_fields', expiredFields];
  yield ['expired_stale_perc', '0.00'];
  yield ['expired_keys_with_volatile_items_stale_perc', '0.00'];
  yield ['expired_time_cap_reached_count', 0];
  yield ['expire_cycle_cpu_milliseconds', 0];
}

/** What the rules of users have refused. Certificates name no users here, and users may use every database. */
export function* denied({ refusals }: Server['acl']): Iterable<Field> {
  yield ['acl_access_denied_auth', refusals.auth];
  yield ['acl_access_denied_cmd', refusals.command];
  yield ['acl_access_denied_key', refusals.key];
  yield ['acl_access_denied_channel', refusals.channel];
  yield ['acl_access_denied_tls_cert', 0];
  yield ['acl_access_denied_db', refusals.database];
}
