/** Decides whether a new connection is accepted: `maxclients` and protected mode can refuse it. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { User } from '../acl/user.ts';
import type { HasClients, HasSettings } from '../ports.ts';

const FULL = '-ERR max number of clients reached\r\n';

/** Redis' own text, so that a search for the error finds it. */
const PROTECTED = `-DENIED Redis is running in protected mode because protected mode is enabled and no password \
is set for the default user. In this mode connections are only accepted from the loopback \
interface. If you want to connect from external computers to Redis you may adopt one of the \
following solutions: 1) Just disable protected mode sending the command 'CONFIG SET \
protected-mode no' from the loopback interface by connecting to Redis from the same host the \
server is running, however MAKE SURE Redis is not publicly accessible from internet if you \
do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just \
disable the protected mode by editing the Redis configuration file, and setting the \
protected mode option to 'no', and then restarting the server. 3) If you started the server \
manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an \
authentication password for the default user. NOTE: You only need to do one of the above \
things in order for the server to start accepting connections from the outside.\r\n`;

/** Matches an IP address. A unix socket has a path instead. */
const INTERNET = /^(\d+\.){3}\d+$|^[\da-f]*:/i;
const LOOPBACK = /^(::ffff:)?127\.|^::1$/i;

/** The node, as admission sees it. */
interface AdmittingNode extends HasClients, HasSettings {
  readonly acl: { readonly default: Pick<User, 'noPassword'> };
}

/**
 * Returns the error that a new connection receives before it is closed; undefined if the connection is accepted.
 * @param remote the address of the other end: an IP address, or the path of a unix socket
 */
export function refusal({ clients, settings, acl }: AdmittingNode, remote: string): Bytes | undefined {
  if (clients.size >= settings.maxclients) return FULL;
  if (!settings['protected-mode'] || !acl.default.noPassword) return undefined;
  return refusalOfMachine(remote.slice(0, remote.lastIndexOf(':')));
}

/** The error of protected mode for an address of another machine; undefined for one of this machine, and for a unix socket. */
export function refusalOfMachine(address: string): Bytes | undefined {
  return INTERNET.test(address) && !LOOPBACK.test(address) ? PROTECTED : undefined;
}
