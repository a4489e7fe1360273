/** Counts reads of a replica that are older than a write which its primary had acknowledged before. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RawClient } from '../../support/raw-client.ts';
import { removeFolder, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

/** A primary and a replica, each a process of its own. */
export interface ReplicatedServers {
  readonly primary: RawClient[];
  readonly replica: RawClient[];
  stop(): Promise<void>;
}

/**
 * Starts a primary and its replica, and connects so many clients to both. `dist/` must be built.
 * @param program takes redis-server's arguments; undefined for lostlock's own command
 */
export async function startReplicated(
  program: string | undefined,
  clients: number,
): Promise<ReplicatedServers> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-stale-'));
  const own = join(folder, 'lostlock');
  writeFileSync(own, `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/cli.js')}" "$@"\n`, {
    mode: 0o755,
  });
  const options = { tcp: true, program: program ?? own, args: ['--repl-diskless-sync-delay', '0'] };
  const [primary, replica] = [await startRedisServer(options), await startRedisServer(options)];
  const connect = (port: number): Promise<RawClient[]> =>
    Promise.all(Array.from({ length: clients }, () => RawClient.connect({ port })));
  const [toPrimary, toReplica] = [await connect(primary.port), await connect(replica.port)];
  const [admin] = toReplica as [RawClient];
  await admin.ask('REPLICAOF', '127.0.0.1', String(primary.port));
  await until(async () => (await admin.ask('INFO', 'replication')).raw.includes('master_link_status:up'), {
    what: 'the link to the primary',
    limitMs: 60_000,
  });
  return {
    primary: toPrimary,
    replica: toReplica,
    async stop() {
      await Promise.all([primary.stop(), replica.stop()]);
      await removeFolder(folder);
    },
  };
}

/**
 * Lets all clients at once set a key of their own on the primary, and read it on the replica when the SET is answered.
 * Returns how many of the reads had an older value.
 * @param tries how many reads there are in all
 */
export async function countStale({ primary, replica }: ReplicatedServers, tries: number): Promise<number> {
  let [left, stale] = [tries, 0];
  const write = async (writer: RawClient, reader: RawClient, key: string): Promise<void> => {
    while (left-- > 0) {
      const value = String(left);
      await writer.ask('SET', key, value);
      const { raw } = await reader.ask('GET', key);
      if (raw !== `$${value.length}\r\n${value}\r\n`) stale++;
    }
  };
  await Promise.all(primary.map((writer, i) => write(writer, replica[i]!, `key:${i}`)));
  return stale;
}
