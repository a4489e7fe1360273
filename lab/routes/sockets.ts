/** Notes when code in a world uses a real connection that was there before: its answer would come in real time. */
import { Socket } from 'node:net';
import { present } from '../time/present.ts';

type SocketWrite = (this: Socket, ...args: unknown[]) => unknown;

/** Makes writing to a real socket tell the driver when that happens in a world. */
export function routeSockets(): void {
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', SocketWrite>;
  for (const name of ['_write', '_writev'] as const) {
    const real = prototype[name];
    prototype[name] = function (...args) {
      if (present.inside !== undefined && !isStandard(this)) present.refused.push('net.Socket.write');
      return Reflect.apply(real, this, args);
    };
  }
}

/** What a process prints may be a pipe, which is a socket to Node. */
function isStandard(socket: Socket): boolean {
  return (socket as { _isStdio?: boolean })._isStdio === true;
}
