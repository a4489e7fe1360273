/** lostlock's public face: start a Redis-protocol server inside this process, or a failover lab on a virtual clock. */
export type { DumpEntry, Seed, SeedValue, Text } from './embed/dataset.ts';
export type {
  InterceptedReply,
  InterceptedRequest,
  Interception,
  Intervention,
  RequestFilter,
} from './embed/interceptor.ts';
export type { NativeReply, NativeScript, ScriptRegistry } from './embed/native-scripts.ts';
export { LostlockServer } from './embed/running.ts';
export { type StartOptions, startServer } from './embed/start.ts';
export type { Actor } from './lab/actor.ts';
export type { Keep } from './lab/disk.ts';
export type { Amount, Delays, LaneControls } from './lab/gate.ts';
export type { KeepData } from './lab/journal.ts';
export type { CrashOptions, LabNode } from './lab/lab-node.ts';
export type { Lane } from './lab/lane.ts';
export type { Link, ReplicationLink } from './lab/link.ts';
export type { Pair, PairOptions, Servers, ServersOptions } from './lab/pair.ts';
export type { RealLane } from './lab/real-lane.ts';
export type { RealNetwork } from './lab/real-network.ts';
export type { RealNode, RealNodeOptions } from './lab/real-node.ts';
export type {
  RealActor,
  RealPair,
  RealPairOptions,
  RealServers,
  RealServersOptions,
} from './lab/real-pair.ts';
export type { RealClock } from './lab/real-process.ts';
export type { Failover, FailoverOptions } from './lab/roles.ts';
export { startPair, startServers } from './lab/start.ts';
export type { Trace, TraceEvent } from './lab/trace.ts';
export type { World, WorldOptions } from './lab/world.ts';
export type { Write } from './lab/write-log.ts';
