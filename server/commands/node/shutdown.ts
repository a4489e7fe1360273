/** SHUTDOWN: stops the node (https://redis.io/docs/latest/commands/shutdown/). */

import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { ReplyError } from '../../../protocol/reply.ts';
import type { Caller, Server } from '../../server.ts';
import { type Outcome, SILENT } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';

/**
 * Saves the dataset before the node ends, if it is to be saved, and tells a replica to take over, if one is to.
 * @param words SHUTDOWN's options, in capitals
 * @returns false if it cannot be saved, or if the cluster needs the node, so that it must go on
 */
export function prepareShutdown(server: Server, words: ReadonlySet<Bytes>): boolean {
  const { cluster } = server;
  if (words.has('SAFE') && cluster?.isNeeded) {
    const how = words.has('FORCE') ? 'Exit anyway' : "Can't exit";
    server.log('warning', `This is a primary with slots, which the cluster may need. ${how}.`);
    if (!words.has('FORCE')) return false;
  }
  const saves = words.has('SAVE') || (server.settings.save !== '' && !words.has('NOSAVE'));
  try {
    if (saves) server.dumpFile.saveUncounted();
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    if (!words.has('FORCE')) return false;
  }
  server.log('notice', 'User requested shutdown');
  if (words.has('FAILOVER') && cluster !== undefined) {
    const heir = cluster.passOn();
    server.log('notice', heir === undefined ? 'No replica can take over' : `Replica ${heir} takes over`);
  }
  return true;
}

/** Does what the node is set to do when the process receives a signal. @returns false if the node must go on */
export function shutdownBySignal(server: Server, signal: 'SIGTERM' | 'SIGINT'): boolean {
  server.log('notice', `Received ${signal} scheduling shutdown...`);
  const set = server.settings[signal === 'SIGTERM' ? 'shutdown-on-sigterm' : 'shutdown-on-sigint'];
  // Half of a script is nothing to save.
  const words = new Set(server.slowScript.active ? ['NOSAVE'] : set.split(' ').map(asciiUpper));
  if (server.unit(() => prepareShutdown(server, words))) return true;
  server.log('warning', 'Errors trying to shut down the server. Check the logs for more information.');
  return false;
}

function shutDown(client: Caller, argv: readonly Bytes[]): Outcome {
  const { server } = client;
  const words = new Set(argv.slice(1).map(asciiUpper));
  const options = ['SAVE', 'NOSAVE', 'NOW', 'FORCE', 'ABORT'];
  if (server.dialect.cluster.passesOn) options.push('SAFE', 'FAILOVER');
  for (const word of words) if (!options.includes(word)) fail(SYNTAX);
  if (words.has('ABORT')) {
    if (words.size > 1 || argv.length > 2) fail(SYNTAX);
    fail('ERR No shutdown in progress.');
  }
  if (words.has('SAVE') && words.has('NOSAVE')) fail(SYNTAX);
  if (words.has('FAILOVER') && server.cluster === undefined) {
    fail('ERR SHUTDOWN FAILOVER is only supported in cluster mode.');
  }
  if (server.slowScript.active && !words.has('NOSAVE')) fail(server.slowScript.busyText);
  if (!prepareShutdown(server, words)) fail('ERR Errors trying to SHUTDOWN. Check logs.');
  client.close();
  server.host.clock.soon(() => server.onShutdown());
  return SILENT;
}

export const shutdownCommands = defineCommands('server', {
  shutdown: {
    summary: 'Saves the dataset if asked or configured to, and stops the server.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of keys when it saves',
    arity: -1,
    flags: ['admin', 'noscript', 'loading', 'stale', 'no_multi', 'allow_busy'],
    run: shutDown,
  },
});
