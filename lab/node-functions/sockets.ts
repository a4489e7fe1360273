/** Detects when code in a world uses a real connection that existed before. Its answer would arrive in real time. */
import { Socket } from 'node:net';
import { noteStart } from '../time/culprits.ts';
import { present } from '../time/current-world.ts';
import { note } from './refusals.ts';

type SocketWrite = (this: Socket, ...args: unknown[]) => unknown;

/** Makes a write to a real socket from within a world reach the driver as an error. */
export function replaceSockets(): void {
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', SocketWrite>;
  for (const name of ['_write', '_writev'] as const) {
    const real = prototype[name];
    prototype[name] = function (...args) {
      if (present.inside !== undefined && !isStandard(this)) {
        noteStart('net.Socket.write', prototype[name]);
        present.refused.push('net.Socket.write');
      }
      return Reflect.apply(real, this, args);
    };
  }
  note(Socket.prototype, 'net', 'connect');
}

/** True for stdout and stderr. They may be pipes, which Node represents as sockets. */
function isStandard(socket: Socket): boolean {
  return (socket as { _isStdio?: boolean })._isStdio === true;
}
