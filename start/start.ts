/** startServer: starts a node on the real clock, with its listeners. */

import { resolve } from 'node:path';
import { defined } from '../base/defined.ts';
import { RdbError } from '../keyspace/format/errors.ts';
import { fromText, toBuffer } from '../protocol/bytes.ts';
import { AofError } from '../server/aof/aof-error.ts';
import { AppendOnlyFile } from '../server/aof/append-only-file.ts';
import { loadSnapshot, snapshot } from '../server/data/snapshot.ts';
import { AmbientClock } from '../server/host/ambient-clock.ts';
import { placed } from '../server/host/directory.ts';
import type { Host } from '../server/host/host.ts';
import { nodeClock, nodeHost } from '../server/host/node.ts';
import { realDelay } from '../server/host/real-time.ts';
import type { Listener } from '../server/host/tcp.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Server, ServerOptions } from '../server/server.ts';
import { namesPlace } from '../server/settings/refusals.ts';
import { defaultSettings, type Settings } from '../server/settings/settings.ts';
import { createServerNode, openBus } from './cluster-node.ts';
import { Contents } from './control/contents.ts';
import { Door } from './control/door.ts';
import { Interceptor } from './control/interceptor.ts';
import { MovableClock } from './control/movable-clock.ts';
import { seed } from './control/seed.ts';
import { listen, reachableHost } from './listening.ts';
import { ownCommands } from './own/declare.ts';
import type { LostlockSentinel } from './running/sentinel.ts';
import { LostlockServer } from './running/server.ts';
import { type SentinelPlace, startSentinels } from './sentinel.ts';
import { readSentinels } from './sentinel-options.ts';
import { checkOptions, type StartOptions, settingsOf, type ThreadOptions } from './start-options.ts';
import type { ThreadedServer } from './thread/threaded-server.ts';
import { planTls, type TlsPlan } from './tls.ts';
import { addUsers, openAclFile } from './users.ts';

/** Loads the append-only file, if there is a place for one and `appendonly` is set. */
function openAppendOnlyFile(node: Server, settings: Partial<Settings>): void {
  if (!namesPlace(settings)) return;
  try {
    new AppendOnlyFile(node).open();
  } catch (error) {
    if (!(error instanceof AofError)) throw error;
    node.log('warning', error.message);
    throw new Error(`lostlock: the append-only file cannot be loaded: ${error.message}`, { cause: error });
  }
}

/** Loads the dump file, if one was requested and there is no append-only file. */
function openDumpFile(node: Server, { dir, dbfilename, appendonly }: Partial<Settings>): void {
  if (dir === undefined && dbfilename === undefined) return;
  try {
    node.dumpFile.open(appendonly);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    const path = resolve(
      ...[node.settings.dir, node.settings.dbfilename].map((part) => toBuffer(part).toString()),
    );
    throw new Error(`lostlock: the dump file ${path} cannot be loaded: ${error.message}`, { cause: error });
  }
}

/** Loads what is on the disk, and creates the users. */
function load(node: Server, options: StartOptions, settings: Partial<Settings>): void {
  openAclFile(node);
  openAppendOnlyFile(node, settings);
  openDumpFile(node, settings);
  addUsers(node, options.users ?? {});
}

/** Follows the primary, if there is to be one. */
function follow(node: Server, { replicaOf }: StartOptions): void {
  if (replicaOf === undefined) return;
  node.unit(() => replicateFrom(node, fromText(replicaOf.host), replicaOf.port));
}

/** The options of the node itself. */
function nodeOptions(options: StartOptions, settings: Partial<Settings>): ServerOptions {
  const { dialect, strict, requestMemory, log, renamedCommands, commands } = options;
  return {
    settings,
    commands: ownCommands(commands),
    ...(dialect && { dialect }),
    ...defined({ strict, requestMemory }),
    ...(log && { log }),
    ...(renamedCommands && {
      renamings: renamedCommands.map(([name, to]) => [fromText(name), fromText(to)]),
    }),
  };
}

/** Stops a node as SHUTDOWN SAVE does, and starts another one in its place. */
function renewed(old: Server, host: Host, options: StartOptions, settings: Partial<Settings>): Server {
  const isStored = settings.dir !== undefined || settings.dbfilename !== undefined || namesPlace(settings);
  const rdb = isStored ? undefined : old.unit(() => snapshot(old));
  if (isStored) old.unit(() => old.dumpFile.saveUncounted());
  old.stop();
  // CONFIG SET may have entered another directory.
  if (old.settings.dir !== (settings.dir ?? '.')) host.disk.enter?.(settings.dir ?? fromText(process.cwd()));
  const { node } = createServerNode(host, nodeOptions(options, settings));
  load(node, options, settings);
  if (rdb !== undefined) node.unit(() => loadSnapshot(node, rdb));
  for (const name of ['port', 'tls-port'] as const) node.settings[name] = old.settings[name];
  follow(node, options);
  return node;
}

/** What the Sentinels of a server need to know of it. */
function sentinelPlace(
  options: StartOptions,
  { port, 'tls-port': tlsPort }: Settings,
  tls: TlsPlan | undefined,
): Omit<SentinelPlace, 'port'> {
  const host = reachableHost(options);
  // Without a plain port, the Sentinels have none either.
  const context = port === 0 ? tls?.context : undefined;
  const { log } = options;
  return {
    host,
    primary: { host, port: port || tlsPort },
    ...defined({ tls: context, password: options.password }),
    ...(options.dialect && { dialect: options.dialect }),
    ...defined({ strict: options.strict }),
    ...(log && { log: (level, text) => log(level, text, 'sentinel') }),
  };
}

/** The settings of a server's files, which its replicas do not share. */
const PLACES = ['dir', 'dbfilename', 'appendonly', 'appenddirname', 'appendfilename'] as const;

/** Starts a replica and waits until it has caught up with the primary. */
async function startReplica(primary: Server, options: StartOptions): Promise<LostlockServer> {
  const { rdbFile: _, unixSocket: _path, seed: _data, replicas: _count, replicaOf: _up, ...others } = options;
  const { sentinels: _watchers, ...rest } = others;
  const settings = { ...rest.settings };
  for (const name of PLACES) delete settings[name];
  // The users are those of the primary's file, wherever the replica's files are.
  const { aclfile = '', dir } = settingsOf(options);
  if (aclfile !== '') settings.aclfile = fromText(placed(dir, aclfile));
  const { port, 'tls-port': tlsPort } = primary.settings;
  const replica = await startHere({
    ...rest,
    port: 0,
    settings: {
      ...settings,
      ...(tlsPort !== 0 && { 'tls-port': 0 }),
      ...(port === 0 && { 'tls-replication': true }),
    },
    ...(options.tls?.port !== undefined && { tls: { ...options.tls, port: 0 } }),
  });
  const { node } = replica;
  node.unit(() => replicateFrom(node, reachableHost(options), port || tlsPort));
  while (node.primary?.linkUp !== true || node.replication.offset < primary.replication.offset) {
    await new Promise<void>((wake) => realDelay(wake, 1));
  }
  return replica;
}

/**
 * Starts a server, by default on a free port of 127.0.0.1. Rejects with a TypeError that names a wrong option, with
 * Node's error when the address is not available, and with an Error that names a dump file that cannot be loaded.
 */
export function startServer(options: ThreadOptions): Promise<ThreadedServer>;
export function startServer(options?: StartOptions): Promise<LostlockServer>;
export async function startServer(
  options: StartOptions | ThreadOptions = {},
): Promise<LostlockServer | ThreadedServer> {
  checkOptions(options);
  if (options.thread !== true) return startHere(options);
  const { startThread } = await import('./thread/threaded-server.ts');
  return startThread(options);
}

/** Starts a server in this thread. */
async function startHere(options: StartOptions): Promise<LostlockServer> {
  const settings = settingsOf(options);
  const clock = options.clock === 'ambient' ? undefined : new MovableClock(nodeClock);
  const tls = planTls({ ...defaultSettings(), ...settings }, options.tls, options.port);
  const host = nodeHost(
    toBuffer(settings.dir ?? '.').toString(),
    clock ?? new AmbientClock(),
    tls?.context.connect,
    () => node.settings['bind-source-addr'],
  );
  const { node, member } = createServerNode(host, nodeOptions(options, settings));
  const door = new Door(node);
  const listeners: Listener[] = [];
  const replicas: LostlockServer[] = [];
  const sentinels: LostlockSentinel[] = [];
  try {
    // Any node of a set may have to follow another one after a failover.
    const hasOthers = (options.replicas ?? 0) > 0 || readSentinels(options.sentinels).count > 0;
    if (tls?.plain === false && hasOthers) node.settings['tls-replication'] = true;
    load(node, options, settings);
    if (options.seed !== undefined) seed(node, options.seed);
    await listen(door, options, tls, listeners);
    if (member !== undefined) {
      const isFree = (options.port ?? 0) === 0 && (settings['tls-port'] ?? 0) === 0;
      listeners.push(await openBus(member, settings, reachableHost(options), isFree, tls?.context));
    }
    follow(node, options);
    if (options.keepAlive === false) for (const listener of listeners) listener.unref();
    for (let i = 0; i < (options.replicas ?? 0); i++) replicas.push(await startReplica(node, options));
    await startSentinels(
      sentinelPlace(options, node.settings, tls),
      readSentinels(options.sentinels),
      sentinels,
    );
    const renew = (old: Server): Server => renewed(old, host, options, settings);
    const parts = {
      door,
      contents: new Contents(door),
      interceptor: new Interceptor(node),
      listeners,
      replicas,
      sentinels,
      clock,
      renew: member === undefined ? renew : undefined,
    };
    return new LostlockServer(parts, { ...options, host: reachableHost(options) });
  } catch (error) {
    await Promise.all([...sentinels, ...replicas].map((each) => each.stop()));
    node.stop();
    await Promise.all(listeners.map((listener) => listener.close()));
    throw error;
  }
}
