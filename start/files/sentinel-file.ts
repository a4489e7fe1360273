/** Starts the Sentinel of a sentinel.conf. From then on the Sentinel keeps its state in this file, as redis-sentinel does. */

import { resolve } from 'node:path';
import { defined } from '../../base/defined.ts';
import { fromText, toBuffer } from '../../protocol/bytes.ts';
import { applyDirective, BadSentinelDirective, inTurn } from '../../sentinel/configuration/directives.ts';
import { keepInFile } from '../../sentinel/configuration/file.ts';
import { createSentinel } from '../../sentinel/index.ts';
import { announceMonitored } from '../../sentinel/primaries.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { nodeClock, nodeHost } from '../../server/host/node.ts';
import type { Listener } from '../../server/host/tcp.ts';
import type { LogLevel } from '../../server/ports.ts';
import { defaultSettings } from '../../server/settings/settings.ts';
import { badLine, type Configuration } from '../configuration.ts';
import { Door } from '../control/door.ts';
import { ELSEWHERE } from '../elsewhere.ts';
import { listen } from '../listening.ts';
import { planTls } from '../tls.ts';
import { addUsers, openAclFile } from '../users.ts';
import { DiskConfigFile } from './config-file.ts';

/** Redis' port for Sentinels. */
const PORT = 26379;

/** What a Sentinel starts with. */
export interface SentinelFileOptions {
  readonly configuration: Configuration;
  /** The absolute path of the file. */
  readonly configFile?: string;
  readonly dialect?: DialectName;
  readonly strict?: boolean;
}

/** A Sentinel that runs with a configuration file. */
export interface FileSentinel {
  readonly node: SentinelServer;
  /** Closes every connection and listener. */
  stop(): Promise<void>;
}

/** Applies the `sentinel` lines. Throws BadDirective for a wrong one. */
function configure(node: SentinelServer, { sentinelLines }: Configuration): void {
  for (const { words, text, number } of inTurn(sentinelLines)) {
    try {
      applyDirective(node.sentinel, words);
    } catch (error) {
      if (!(error instanceof BadSentinelDirective)) throw error;
      throw badLine(number, text, error.message);
    }
  }
}

/**
 * Starts a Sentinel. Rejects with BadDirective for a wrong line, with an Error if the file cannot be written, and with Node's
 * error when the address is not available.
 */
export async function startSentinelFromFile(
  { configuration, configFile, dialect, strict }: SentinelFileOptions,
  log: (level: LogLevel, text: string) => void,
): Promise<FileSentinel> {
  if (configFile === undefined) {
    throw new Error('Sentinel needs config file on disk, refusing to start...  Exiting.');
  }
  const { port = PORT, bind, dir, pidfile: _, ...settings } = configuration.settings;
  const tls = planTls(
    { ...defaultSettings(), ...settings, ...(dir !== undefined && { dir }) },
    undefined,
    port,
  );
  const folder = toBuffer(dir ?? '.').toString();
  const node = createSentinel(nodeHost(folder, nodeClock, tls?.context.connect), {
    elsewhere: ELSEWHERE,
    settings: {
      ...settings,
      ...defined({ bind }),
      // It is written back into the file.
      ...(dir !== undefined && { dir: fromText(resolve(folder)) }),
    },
    log,
    ...defined({ dialect, strict }),
  });
  const listeners: Listener[] = [];
  const stop = async (): Promise<void> => {
    node.stop();
    await Promise.all(listeners.map((listener) => listener.close()));
  };
  try {
    openAclFile(node);
    addUsers(node, configuration.users);
    node.unit(() => configure(node, configuration));
    const host = bind === undefined ? '* -::*' : toBuffer(bind).toString();
    await listen(new Door(node), { port, host }, tls, listeners);
    keepInFile(node, new DiskConfigFile(configFile));
    if (!node.sentinel.flush())
      throw new Error(`Sentinel config file ${configFile} is not writable. Exiting...`);
    node.start();
    node.sentinel.enter(() => {
      for (const primary of node.sentinel.primaries.values()) announceMonitored(node.sentinel, primary);
    });
    return { node, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
