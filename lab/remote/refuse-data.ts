/** Refuses what has nothing to do with LAB at a port that leads to no data. */
import { asciiLower, fromText } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import type { Server } from '../../server/server.ts';

/** What the lab's port answers beside LAB: what a client asks when it connects and before it leaves. */
const ANSWERED = ['lab', 'ping', 'hello', 'auth', 'client', 'select', 'info', 'command', 'reset', 'quit'];

/** Refuses all other commands: a client that is there by mistake should hear of it at once. @param where says where the data is */
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
