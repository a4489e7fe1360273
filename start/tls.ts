/** The option `tls` of startServer, and the same from the parameters of redis.conf. */
import { badOption, checkInteger, checkNames } from '../base/options.ts';
import { nodeTls } from '../server/host/tls.ts';
import type { Settings } from '../server/settings/settings.ts';
import { BadTls, type Certificates, certificatesOf, type TlsContext, tlsContext } from './certificates.ts';

/** How a server speaks TLS. Certificates and keys are in PEM. */
export interface TlsOptions {
  /** The server's private key. */
  readonly key: string | Buffer;
  /** The server's certificate, with the chain that leads to the authority. */
  readonly cert: string | Buffer;
  /** The authorities that sign the certificates of clients, and of the primary that a replica follows. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
  /** The password of the key. */
  readonly passphrase?: string;
  /**
   * Whether a client must show a certificate that an authority of `ca` has signed: 'required' (the default with `ca`),
   * 'optional' or 'none'. A certificate that is shown is always checked.
   */
  readonly clients?: 'required' | 'optional' | 'none';
  /** A TCP port for TLS beside the plain one; 0 picks a free one. Without it, all TCP connections speak TLS. */
  readonly port?: number;
}

/** TLS as a server is to use it. */
export interface TlsPlan {
  readonly context: TlsContext;
  /** The port for TLS; 0 picks a free one. undefined: only the link to a primary uses TLS. */
  readonly port: number | undefined;
  /** Whether there is a port without TLS. */
  readonly plain: boolean;
}

const NAMES = ['key', 'cert', 'ca', 'passphrase', 'clients', 'port'];

function isPem(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || Buffer.isBuffer(value);
}

/** Throws TypeError for the first wrong option of `tls`. */
export function checkTls(tls: TlsOptions): void {
  checkNames(tls, NAMES, 'tls');
  for (const name of ['key', 'cert'] as const) {
    if (!isPem(tls[name])) throw badOption(`tls.${name}`, tls[name], 'a string or a Buffer in PEM');
  }
  if (tls.ca !== undefined && ![tls.ca].flat().every(isPem)) {
    throw badOption('tls.ca', tls.ca, 'strings or Buffers in PEM');
  }
  if (tls.passphrase !== undefined && typeof tls.passphrase !== 'string') {
    throw badOption('tls.passphrase', tls.passphrase, 'a string');
  }
  if (tls.clients !== undefined && !['required', 'optional', 'none'].includes(tls.clients)) {
    throw badOption('tls.clients', tls.clients, "'required', 'optional' or 'none'");
  }
  if (tls.clients !== undefined && tls.clients !== 'none' && tls.ca === undefined) {
    throw badOption('tls.clients', tls.clients, "'none' without tls.ca, which checks the certificates");
  }
  if (tls.port !== undefined) checkInteger('tls.port', tls.port, 0, 65535);
}

/** Throws TypeError for a key or a certificate that cannot be read. The error does not show what may be secret. */
function checkPem({ key, cert, ca, passphrase }: TlsOptions): void {
  const tryOut = (option: string, what: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      throw badOption(option, '…', `${what} in PEM (${(error as Error).message})`);
    }
  };
  const { createSecureContext } = nodeTls();
  const secret = passphrase === undefined ? { key } : { key, passphrase };
  tryOut('tls.key', 'a private key, with its tls.passphrase if it has one,', () =>
    createSecureContext(secret),
  );
  tryOut('tls.cert', 'a certificate', () => createSecureContext({ cert }));
  // Node ignores an authority that it cannot read.
  for (const each of [ca ?? []].flat() as (string | Buffer)[]) {
    tryOut(
      'tls.ca',
      'certificates',
      () => new (process.getBuiltinModule('node:crypto').X509Certificate)(each),
    );
  }
}

function certificatesIn({ port: _, ...tls }: TlsOptions): Certificates {
  return { ...tls, clients: tls.clients ?? (tls.ca === undefined ? 'none' : 'required') };
}

/**
 * Returns how the server uses TLS; undefined if it does not. Throws an Error if the certificates cannot be used, and TypeError
 * if two options name a port, or an option is no key or certificate.
 * @param plainPort the option `port`
 */
export function planTls(
  settings: Settings,
  options: TlsOptions | undefined,
  plainPort: number | undefined,
): TlsPlan | undefined {
  const port = settings['tls-port'];
  if (options !== undefined && port !== 0) {
    throw badOption("settings['tls-port']", port, '0 with the option tls, whose `port` is the port for TLS');
  }
  if (options === undefined && port === 0 && !settings['tls-replication'] && !settings['tls-cluster']) {
    return undefined;
  }
  if (options !== undefined) checkPem(options);
  try {
    const certificates = options === undefined ? certificatesOf(settings) : certificatesIn(options);
    const context = tlsContext(certificates, settings);
    if (options !== undefined) {
      return { context, port: options.port ?? plainPort ?? 0, plain: options.port !== undefined };
    }
    // As in redis.conf: with a TLS port, port 0 means that there is no plain one.
    return { context, port: port === 0 ? undefined : port, plain: port === 0 || plainPort !== 0 };
  } catch (error) {
    if (!(error instanceof BadTls)) throw error;
    throw new Error(`lostlock: ${error.message}`, { cause: error });
  }
}
