/**
 * TLS as redis-server has it: which certificates a node shows and which it asks for
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions, TlsOptions as NodeOptions } from 'node:tls';
import { defined } from '../base/defined.ts';
import { asciiLower, type Bytes, toBuffer } from '../protocol/bytes.ts';
import { placed, reasonOf } from '../server/host/directory.ts';
import { nodeTls } from '../server/host/tls.ts';
import type { Settings } from '../server/settings/settings.ts';

/** Certificates and keys, in PEM. */
export interface Certificates {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
  /** The authorities that sign the certificates of clients, and of the primary that a replica follows. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
  /** The password of the key. */
  readonly passphrase?: string;
  /** Whether clients must have a certificate. */
  readonly clients: 'required' | 'optional' | 'none';
  /** What the node shows to its primary, if that is another certificate. */
  readonly asClient?: Pick<Certificates, 'key' | 'cert' | 'passphrase'>;
}

/** What Node needs to speak TLS. */
export interface TlsContext {
  /** To accept connections. */
  readonly serve: NodeOptions;
  /** To connect to a primary. */
  readonly connect: ConnectionOptions;
}

/** TLS cannot be used as configured. The message has redis-server's words where it has some. */
export class BadTls extends Error {}

const NO_CA =
  'Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or tls-auth-clients are enabled!';
const PROTOCOLS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
const BAD_PROTOCOLS =
  "Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'.";

/** The versions between the lowest and the highest protocol that the setting names. */
function protocolsOf(words: Bytes): Pick<NodeOptions, 'minVersion' | 'maxVersion'> {
  const named = words.split(' ').filter((word) => word !== '');
  if (named.length === 0) return {};
  const places = named.map((word) => PROTOCOLS.findIndex((each) => asciiLower(each) === asciiLower(word)));
  if (places.includes(-1)) throw new BadTls(BAD_PROTOCOLS);
  return { minVersion: PROTOCOLS[Math.min(...places)]!, maxVersion: PROTOCOLS[Math.max(...places)]! };
}

function ciphersOf(settings: Settings): Pick<NodeOptions, 'ciphers' | 'honorCipherOrder'> {
  const lists = [settings['tls-ciphersuites'], settings['tls-ciphers']].filter((list) => list !== '');
  return {
    honorCipherOrder: settings['tls-prefer-server-ciphers'],
    ...(lists.length > 0 && { ciphers: lists.join(':') }),
  };
}

function readPem(what: string, file: Bytes, { dir }: Settings): Buffer {
  try {
    return readFileSync(placed(dir, file));
  } catch (error) {
    throw new BadTls(`Failed to load ${what}: ${toBuffer(file).toString()}: ${reasonOf(error)}`);
  }
}

/** The authorities in the file and in the folder that the settings name. */
function authoritiesOf(settings: Settings): Buffer[] {
  const [file, folder] = [settings['tls-ca-cert-file'], settings['tls-ca-cert-dir']];
  try {
    const path = placed(settings.dir, folder);
    const inFolder = folder === '' ? [] : readdirSync(path).map((name) => join(path, name));
    const files = file === '' ? inFolder : [placed(settings.dir, file), ...inFolder];
    return files.map((each) => readFileSync(each));
  } catch (error) {
    throw new BadTls(`Failed to configure CA certificate(s) file/directory: ${reasonOf(error)}`);
  }
}

/** The files of a certificate and its key. */
function pairOf(
  settings: Settings,
  cert: Bytes,
  key: Bytes,
  passphrase: Bytes,
): Pick<Certificates, 'key' | 'cert' | 'passphrase'> {
  return {
    cert: readPem('certificate', cert, settings),
    key: readPem('private key', key, settings),
    ...(passphrase !== '' && { passphrase }),
  };
}

/** Reads the files that the settings name. Throws BadTls if one is missing. */
export function certificatesOf(settings: Settings): Certificates {
  const words = { yes: 'required', optional: 'optional', no: 'none' } as const;
  const clients = words[settings['tls-auth-clients'] as keyof typeof words];
  if (settings['tls-cert-file'] === '') throw new BadTls('No tls-cert-file configured!');
  if (settings['tls-key-file'] === '') throw new BadTls('No tls-key-file configured!');
  const ca = authoritiesOf(settings);
  if (ca.length === 0 && (clients !== 'none' || settings['tls-replication'])) throw new BadTls(NO_CA);
  return {
    ...pairOf(settings, settings['tls-cert-file'], settings['tls-key-file'], settings['tls-key-file-pass']),
    ...(ca.length > 0 && { ca }),
    clients,
    ...(settings['tls-client-cert-file'] !== '' && {
      asClient: pairOf(
        settings,
        settings['tls-client-cert-file'],
        settings['tls-client-key-file'],
        settings['tls-client-key-file-pass'],
      ),
    }),
  };
}

/** Prepares TLS, so that wrong certificates are found before the first connection. Throws BadTls. */
export function tlsContext(certificates: Certificates, settings: Settings): TlsContext {
  const { ca, clients, asClient, ...own } = certificates;
  const authorities = ca === undefined ? undefined : ([ca].flat() as (string | Buffer)[]);
  const parameters = settings['tls-dh-params-file'];
  const common = {
    ...own,
    ...defined({ ca: authorities }),
    ...protocolsOf(settings['tls-protocols']),
    ...ciphersOf(settings),
  };
  const serve: NodeOptions = {
    ...common,
    ...(parameters !== '' && { dhparam: readPem('DH params file', parameters, settings) }),
    requestCert: clients !== 'none',
    rejectUnauthorized: clients === 'required',
  };
  const connect: ConnectionOptions = {
    ...common,
    ...asClient,
    // A server without an authority trusts a primary with its own certificate.
    ca: authorities ?? [own.cert],
    allowPartialTrustChain: true,
    rejectUnauthorized: true,
    // As in Redis, the primary's host name does not matter.
    checkServerIdentity: () => undefined,
  };
  try {
    const { createSecureContext } = nodeTls();
    createSecureContext(serve);
    // Made once: to read the certificates again for each connection would take longer than the rest of its handshake.
    return { serve, connect: { ...connect, secureContext: createSecureContext(connect) } };
  } catch (error) {
    throw new BadTls(`Failed to configure TLS: ${reasonOf(error)}`);
  }
}
