/** Reads the part of a primary's stream that has passed no link, as a replica that asks for it would. */
import { connect } from 'node:net';
import { fromBuffer } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { nodeClock } from '../../server/host/node.ts';
import type { Mirror } from './mirror.ts';
import { SyncReader } from './sync-reader.ts';

/**
 * Asks a primary by PSYNC for what the mirror lacks, until it has enough. The connection never acknowledges anything, so
 * that WAIT does not count it. Resolves also when the connection ends or the time is over.
 */
export function fetchStream(
  port: number,
  mirror: Mirror,
  isEnough: () => boolean,
  maxMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const begun = mirror.received;
    const reader = new SyncReader(() => begun, mirror.receiver('as primary'));
    const socket = connect(port, '127.0.0.1');
    // A primary never falls silent: it sends pings to its replicas.
    const timer = nodeClock.after(maxMs, () => void socket.destroy());
    socket.on('connect', () => {
      const request = encodeRequest(['PSYNC', mirror.id, String(begun + 1)]);
      socket.write(Buffer.from(request, 'latin1'));
    });
    socket.on('data', (chunk) => {
      reader.take(fromBuffer(chunk));
      if (isEnough()) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      timer.cancel();
      resolve();
    });
  });
}
