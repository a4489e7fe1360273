/** Refuses commands for data at a port that has no data. */
import { asciiLower, fromText } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import type { Server } from '../../server/server.ts';

/** What the lab's port answers beside LAB: what a client asks when it connects and before it leaves. */
const ANSWERED = ['lab', 'ping', 'hello', 'auth', 'client', 'select', 'info', 'command', 'reset', 'quit'];

/**
 * Refuses all other commands: a client that is there by mistake gets an error at once.
 * @param where the part of the error that says where the data is
 */
export function refuseData(control: Server, where: string | (() => string)): void {
  control.interceptor = (client, argv) => {
    const name = asciiLower(argv[0] ?? '');
    if (ANSWERED.includes(name) || !control.commands.has(name)) return false;
    const place = typeof where === 'string' ? where : where();
    const text = `ERR '${name}' is not for this port, which controls the lab and has no data; ${place}`;
    client.reply(new ReplyError(fromText(text)));
    return true;
  };
}
