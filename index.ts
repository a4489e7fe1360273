/** The package's main entry: starts a Redis-compatible server in this process, or a failover lab on a virtual clock. */

export type { LockHolder, LockOverlap } from './lab/account/queries.ts';
export type { LabClusterOptions, RealClockClusterOptions, VirtualClusterOptions } from './lab/cluster.ts';
export type { Amount, Delays, LaneControls } from './lab/links/gate.ts';
export type { Link, ReplicationLink } from './lab/links/link.ts';
export type { Pair, PairOptions, Servers, ServersOptions } from './lab/pair.ts';
export type {
  RealClockCluster,
  RealClockClusterActor,
  RealClockClusterNode,
} from './lab/real-clock/cluster.ts';
export type { RealClockLane } from './lab/real-clock/lane.ts';
export type { RealClockNetwork } from './lab/real-clock/network.ts';
export type { RealClockNode, RealClockNodeOptions } from './lab/real-clock/node.ts';
export type {
  RealClockActor,
  RealClockPair,
  RealClockPairOptions,
  RealClockServers,
  RealClockServersOptions,
} from './lab/real-clock/pair.ts';
export type { RealClock } from './lab/real-clock/process.ts';
export type { RealClockSentinel } from './lab/real-clock/sentinel.ts';
export type { VisitOptions } from './lab/real-clock/visits.ts';
export type { RealServerNode } from './lab/real-servers/node.ts';
export type { RealServerPairOptions, RealServersOptions } from './lab/real-servers/options.ts';
export type { RealServerPair, RealServers } from './lab/real-servers/pair.ts';
export type { DialectOptions, RestartOptions } from './lab/replica-group/dialects.ts';
export type { Keep } from './lab/replica-group/disk.ts';
export type { KeepData } from './lab/replica-group/journal.ts';
export type { CrashOptions } from './lab/replica-group/node.ts';
export type { Failover, FailoverOptions } from './lab/replica-group/replica-group.ts';
export type { SentinelChoice } from './lab/replica-group/sentinels.ts';
export type { Shard } from './lab/replica-group/shards.ts';
export type { Write } from './lab/replica-group/write-log.ts';
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
export type {
  OwnCommand,
  OwnCommandContext,
  OwnCommands,
  OwnFlag,
  OwnKeys,
  OwnReply,
  OwnType,
} from './start/own/own-command.ts';
export { LostlockCluster } from './start/running/cluster.ts';
export { LostlockSentinel } from './start/running/sentinel.ts';
export { LostlockServer } from './start/running/server.ts';
export type { SentinelsOptions } from './start/sentinel-options.ts';
export type { StartOptions, ThreadOptions } from './start/start-options.ts';
export { startServer } from './start/start-server.ts';
export type { ThreadedSentinel, ThreadedServer } from './start/thread/threaded-server.ts';
export type { TlsOptions } from './start/tls.ts';
