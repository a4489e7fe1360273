/** Values of parameters that ask for what lostlock does not do: they are refused, as a server that started all the same would mislead. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Settings } from './settings.ts';

/** What is refused, by parameter: every value but the one that describes what we do. */
const REFUSALS: {
  readonly [Name in keyof Settings]?: { readonly only: Settings[Name]; readonly why: string };
} = {
  aclfile: { only: '', why: 'lostlock reads no ACL file: make users with ACL SETUSER' },
  appendonly: {
    only: false,
    why: 'lostlock has no append-only file: it keeps a dump file where dir or dbfilename names one',
  },
  'cluster-enabled': { only: false, why: 'lostlock has no cluster mode' },
  daemonize: { only: false, why: 'lostlock stays in the foreground' },
  'enable-module-command': { only: 'no', why: 'lostlock loads no modules' },
  'enable-protected-configs': {
    only: 'no',
    why: 'lostlock does not change dir and dbfilename while it runs',
  },
  pidfile: { only: '', why: 'a server inside a process writes no file of its number: the command line does' },
  supervised: { only: 'no', why: 'lostlock reports to no supervisor' },
  'syslog-enabled': { only: false, why: 'lostlock does not log to syslog' },
};

/** The parameters of which some values are refused, each with the reason. */
export const refusals: ReadonlyMap<Bytes, string> = new Map(
  Object.entries(REFUSALS).map(([name, { why }]) => [name, why]),
);

/**
 * Why a parameter cannot have this value; undefined when it can.
 * @param journal something keeps the stream of writes on the disk, as the lab does: `appendonly` works
 */
export function refusalOf(name: keyof Settings, value: unknown, journal = false): string | undefined {
  const refusal = REFUSALS[name];
  if (refusal === undefined || value === refusal.only) return undefined;
  return journal && name === 'appendonly' ? undefined : refusal.why;
}
