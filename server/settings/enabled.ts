/** Whether a client may use what `enable-debug-command` and the like guard: everybody, clients of this machine, or nobody. */
import type { Client } from '../clients/client.ts';
import type { HasSettings } from '../ports.ts';

/** The addresses of clients on this machine. */
const LOCAL = /^(127\.|::1|\/|memory)/;

/** True if the parameter allows it to this client. */
export function isEnabledFor(
  client: Pick<Client, 'connection'> & { readonly server: HasSettings },
  name: 'enable-debug-command' | 'enable-module-command' | 'enable-protected-configs',
): boolean {
  const allowed = client.server.settings[name];
  return allowed === 'yes' || (allowed === 'local' && LOCAL.test(client.connection?.remote ?? 'memory'));
}
