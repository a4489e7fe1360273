/** Breaks a TCP connection with a reset, in the one way that leaves no handle behind. */
import type { Socket } from 'node:net';

/**
 * Resets a connection of TCP at once. A socket that is shutting down is only destroyed: libuv refuses to reset it, Node does
 * not notice that, and never closes the handle. When the process or the thread ends, Node waits for that handle for ever.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
