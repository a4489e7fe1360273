/** The nodes of a world that programs play, as processes of a real server behind the lab's links. */
import type { RealServerPair } from '../../../lab/real-servers/pair.ts';
import { startServers } from '../../../lab/start.ts';
import type { TimelineWorld } from '../../../lab/timeline/world.ts';
import { sizeOf, type Topology } from '../../topology.ts';
import { ServersReplicaSet } from '../real-servers/sets.ts';
import type { KeyLeft } from '../stage.ts';
import type { ProgramNodes } from './nodes.ts';

/** How many elements of a collection are compared: a large one is no lock. */
const MOST = 1000;

/** In each database that has keys: the key, and the key with its value. A stream tells its length only. */
const LEFT = `
local left = {}
local function some(all, step, text)
  local found = {}
  for i = 1, math.min(#all, ${MOST} * step), step do found[#found + 1] = text(all, i) end
  return found
end
local function one(all, i) return all[i] end
local function two(all, i) return all[i] .. '=' .. all[i + 1] end
local readers = {
  string = function(key) return redis.call('get', key) end,
  list = function(key) return '[' .. table.concat(some(redis.call('lrange', key, 0, -1), 1, one), ', ') .. ']' end,
  set = function(key)
    local found = some(redis.call('smembers', key), 1, one)
    table.sort(found)
    return '{' .. table.concat(found, ', ') .. '}'
  end,
  hash = function(key)
    local found = some(redis.call('hgetall', key), 2, two)
    table.sort(found)
    return '{' .. table.concat(found, ', ') .. '}'
  end,
  zset = function(key) return '{' .. table.concat(some(redis.call('zrange', key, 0, -1, 'withscores'), 2, two), ', ') .. '}' end,
  stream = function(key) return redis.call('xlen', key) .. ' entries' end,
}
for db in string.gmatch(redis.call('info', 'keyspace'), 'db(%d+):') do
  redis.call('select', db)
  local keys = redis.call('keys', '*')
  table.sort(keys)
  for _, key in ipairs(keys) do
    local name = db == '0' and key or 'db' .. db .. ':' .. key
    local read = readers[redis.call('type', key).ok]
    left[#left + 1] = name
    left[#left + 1] = name .. '=' .. (read and read(key) or '')
  end
end
return left`;

/** A primary with its replicas, which are real servers. */
export class ServersProgramSet extends ServersReplicaSet implements ProgramNodes {
  async urlFor(client: string): Promise<string> {
    return (await this.inner.actor(client)).url;
  }

  /** Real servers say when they wrote in whole milliseconds. */
  get unrecorded(): TimelineWorld['writes'] {
    const { begun } = this.network.trace;
    return this.nodes.flatMap(({ name, log }) =>
      log.writes.map((write) => ({ at: Math.max(0, write.at * 1000 - begun), node: name, write })),
    );
  }

  async keysLeft(): Promise<KeyLeft[]> {
    const { primary } = this;
    if (!primary.up) return [];
    const found = (await primary.ask('EVAL', LEFT, '0')) as string[];
    return found.flatMap((key, i) => {
      const text = found[i + 1] ?? '';
      return i % 2 === 0 ? [{ key, text: text.replace(/\d+/g, '#') }] : [];
    });
  }

  async finish(): Promise<void> {
    await this.readStream();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** Starts the servers. Rejects when they do not start. @param program takes redis-server's arguments */
export async function startServerNodes(
  topology: Topology,
  program: string,
): Promise<readonly ServersProgramSet[]> {
  const { settings } = topology;
  const servers = await startServers({
    ...{ clock: 'real', nodes: program, ...sizeOf(topology) },
    ...(settings !== undefined && { settings }),
  });
  const sets = servers.sets.map((pair) => new ServersProgramSet(pair as RealServerPair));
  for (const { network } of sets) network.trace.begin();
  for (const set of sets) await set.askForStream();
  return sets;
}
