/** lostlock's public face: start a Redis-protocol server inside this process. */
export type { DumpEntry, Seed, SeedValue, Text } from './embed/dataset.ts';
export type {
  InterceptedReply,
  InterceptedRequest,
  Interception,
  Intervention,
  RequestFilter,
} from './embed/interceptor.ts';
export type { NativeReply, NativeScript, ScriptRegistry } from './embed/native-scripts.ts';
export { LostlockServer, type StartOptions, startServer } from './embed/start.ts';
