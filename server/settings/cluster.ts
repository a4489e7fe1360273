/** The parameters of a cluster (https://redis.io/docs/latest/operate/oss_and_stack/management/scaling/). */
import { choice, fileName, flag, hostName, INT, integer, ipAddress, nodeName, text } from './parameters.ts';

/** The parameters whose names begin with `cluster-`. */
export const clusterParameters = {
  'cluster-enabled': flag(false, true),
  'cluster-config-file': fileName('nodes.conf', 'cluster-config-file', 'filename'),
  'cluster-port': integer(0, 0, 65535, true),
  'cluster-node-timeout': integer(15_000),
  'cluster-replica-validity-factor': integer(10, 0, INT),
  'cluster-migration-barrier': integer(1, 0, INT),
  'cluster-allow-replica-migration': flag(true),
  'cluster-require-full-coverage': flag(true),
  'cluster-replica-no-failover': flag(false),
  'cluster-allow-reads-when-down': flag(false),
  'cluster-allow-pubsubshard-when-down': flag(true),
  'cluster-announce-ip': text(''),
  'cluster-announce-hostname': hostName(),
  'cluster-announce-human-nodename': nodeName(),
  'cluster-announce-port': integer(0, 0, 65535),
  'cluster-announce-tls-port': integer(0, 0, 65535),
  'cluster-announce-bus-port': integer(0, 0, 65535),
  'cluster-announce-client-port': integer(0, 0, 65535),
  'cluster-announce-client-tls-port': integer(0, 0, 65535),
  'cluster-databases': integer(1, 1, INT, true),
  'cluster-announce-client-ipv4': ipAddress(4),
  'cluster-announce-client-ipv6': ipAddress(6),
  'cluster-preferred-endpoint-type': choice('ip', ['ip', 'hostname', 'unknown-endpoint']),
  'cluster-slot-stats-enabled': flag(false),
  'cluster-compatibility-sample-ratio': integer(0, 0, 100),
  'cluster-manual-failover-timeout': integer(5000, 1, INT),
  'cluster-blacklist-ttl': integer(60, -(2 ** 63)),
};
