/**
 * What a dialect is: the server that a node answers as, told by data and by named behaviours. Mechanisms ask for a behaviour by
 * its name and never for a version, so that a new dialect is one new file. What exists since when stands in the command table.
 */
import type { Bytes } from '../../protocol/bytes.ts';

/** How a node answers where servers differ. */
export interface Dialect {
  /** As `startServer({ dialect })` and `--dialect` name it. */
  readonly name: string;
  /** The server and its version; only `since.ts` asks for them. */
  readonly server: { readonly family: 'redis' | 'valkey'; readonly version: string };
  /** The server and its version, as HELLO gives them. */
  readonly hello: { readonly server: Bytes; readonly version: Bytes };
  /** The last line of LOLWUT. */
  readonly lolwut: Bytes;
  /** The fields with which INFO's section `server` names the server. */
  readonly infoVersion: readonly (readonly [name: Bytes, value: Bytes])[];
  /** What INFO calls the field that says whether the node is part of a cluster. */
  readonly infoMode: 'redis_mode' | 'server_mode';
  /** The field of dump files that names the server. */
  readonly dumpVersion: readonly [name: Bytes, value: Bytes];
}
