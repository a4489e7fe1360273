/** The certificates and keys of the tests as files and as options. They are for tests only, and valid until 2126. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The path of a certificate or key: `ca`, `server`, `client` or `stranger`, followed by `.crt` or `.key`. The authority `ca` has
 * signed those of the server and the client. It has not signed that of the stranger.
 */
export const certificateFile = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const pem = (name: string): Buffer => readFileSync(certificateFile(name));
const ca = pem('ca.crt');

/** The options of a server. */
export const serverTls = { ca, key: pem('server.key'), cert: pem('server.crt') };

/** The options of a client whose certificate the server accepts. */
export const clientTls = { ca, key: pem('client.key'), cert: pem('client.crt') };

/** The options of a client whose certificate the authority has not signed. */
export const strangerTls = { ca, key: pem('stranger.key'), cert: pem('stranger.crt') };

/** The directives of redis.conf for the files of a server. */
export const certificateSettings = {
  'tls-ca-cert-file': certificateFile('ca.crt'),
  'tls-cert-file': certificateFile('server.crt'),
  'tls-key-file': certificateFile('server.key'),
};

/** The flags of redis-cli for a client whose certificate the server accepts. */
export const cliTls = [
  '--tls',
  '--cacert',
  certificateFile('ca.crt'),
  '--cert',
  certificateFile('client.crt'),
  '--key',
  certificateFile('client.key'),
];
