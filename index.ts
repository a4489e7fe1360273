/** The package's main entry: starts a Redis-compatible server in this process, or a failover lab on a virtual clock. */

export type { LockHolder, LockOverlap } from './lab/account/queries.ts';
export type { LabClusterOptions, RealClusterOptions, VirtualClusterOptions } from './lab/cluster.ts';
export type { DialectOptions, RestartOptions } from './lab/failover/dialects.ts';
export type { Keep } from './lab/failover/disk.ts';
export type { KeepData } from './lab/failover/journal.ts';
export type { CrashOptions } from './lab/failover/node.ts';
export type { Failover, FailoverOptions } from './lab/failover/replica-group.ts';
export type { SentinelChoice } from './lab/failover/sentinels.ts';
export type { Shard } from './lab/failover/shards.ts';
export type { Write } from './lab/failover/write-log.ts';
export type { Amount, Delays, LaneControls } from './lab/links/gate.ts';
export type { Link, ReplicationLink } from './lab/links/link.ts';
export type { Pair, PairOptions, Servers, ServersOptions } from './lab/pair.ts';
export type { RealCluster, RealClusterActor, RealClusterNode } from './lab/real-clock/cluster.ts';
export type { RealLane } from './lab/real-clock/lane.ts';
export type { RealNetwork } from './lab/real-clock/network.ts';
export type { RealNode, RealNodeOptions } from './lab/real-clock/node.ts';
export type {
  RealActor,
  RealPair,
  RealPairOptions,
  RealServers,
  RealServersOptions,
} from './lab/real-clock/pair.ts';
export type { RealClock } from './lab/real-clock/process.ts';
export type { RealSentinel } from './lab/real-clock/sentinel.ts';
export type { ProcessNode } from './lab/real-servers/node.ts';
export type { ProcessPairOptions, ProcessServersOptions } from './lab/real-servers/options.ts';
export type { ProcessPair, ProcessServers } from './lab/real-servers/pair.ts';
export { startCluster, startPair, startServers } from './lab/start.ts';
export type { Actor } from './lab/time/actor.ts';
export type { TraceEvent } from './lab/time/event.ts';
export type { Trace } from './lab/time/trace.ts';
export type { LabCluster, LabClusterNode } from './lab/virtual/cluster.ts';
export type { Lane } from './lab/virtual/lane.ts';
export type { LabNode } from './lab/virtual/node.ts';
export type { LabSentinel } from './lab/virtual/sentinel.ts';
export type { World, WorldOptions } from './lab/virtual/world.ts';
export type { DialectName } from './server/dialects/index.ts';
export type { ClusterOptions } from './start/cluster.ts';
export type {
  InterceptedReply,
  Interception,
  Intervention,
  RequestFilter,
} from './start/control/interceptor.ts';
export type { NativeReply, NativeScript, ScriptRegistry } from './start/control/native-scripts.ts';
export type { InterceptedRequest, RecordedRequest, RequestRecording } from './start/control/recording.ts';
export type { DumpEntry, Seed, SeedValue, Text } from './start/dataset.ts';
export { LostlockCluster } from './start/running/cluster.ts';
export { LostlockSentinel } from './start/running/sentinel.ts';
export { LostlockServer } from './start/running/server.ts';
export type { SentinelsOptions } from './start/sentinel-options.ts';
export type { StartOptions, ThreadOptions } from './start/start-options.ts';
export { startServer } from './start/start-server.ts';
export type { ThreadedSentinel, ThreadedServer } from './start/thread/threaded-server.ts';
export type { TlsOptions } from './start/tls.ts';
