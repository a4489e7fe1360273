/** Checks the options that a node is made of: its dialect and its settings. */
import { inspect } from 'node:util';
import { badOption } from '../base/options.ts';
import { didYouMean } from '../base/similar.ts';
import { DEFAULT_DIALECT, type DialectName, dialectNamed, dialectNames } from '../server/dialects/index.ts';
import { BadSetting } from '../server/settings/parameters.ts';
import { refusalOf } from '../server/settings/refusals.ts';
import { parameters, type Settings } from '../server/settings/settings.ts';
import { parameterIn, readSetting } from '../server/settings/variants.ts';

/** Throws unless the value names a server that a node can answer as. */
export function checkDialect(name: string, value: unknown): void {
  if ((dialectNames as readonly unknown[]).includes(value)) return;
  throw badOption(name, value, dialectNames.map((each) => `'${each}'`).join(', '));
}

/** Throws for a parameter that does not exist. The error does not list all: it would be too long to read. */
export function checkSettingNames(settings: Partial<Settings>): void {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw badOption('settings', settings, 'an object of options');
  }
  for (const [name, value] of Object.entries(settings)) {
    if (Object.hasOwn(parameters, name)) continue;
    const meant = didYouMean(name, Object.keys(parameters));
    throw badOption(`settings.${name}`, value, `the parameters of redis.conf${meant}`);
  }
}

/** The option of startServer that sets a parameter. */
export const OPTION_OF: Readonly<Record<string, string>> = {
  port: 'port',
  bind: 'host',
  unixsocket: 'unixSocket',
  requirepass: 'password',
};

/** The parameters that say where a node listens. As settings they would have no effect. */
const ADDRESSES: ReadonlySet<string> = new Set<keyof Settings>(['port', 'bind', 'unixsocket']);

/** What a node can do with its settings. */
interface NodeKind {
  /** The server that it answers as; some values are not allowed in all. */
  readonly dialect?: DialectName | undefined;
  /** True when the servers have a place for an append-only file, as the lab's do. */
  readonly stores: boolean;
  /** True for a node of the lab, which chooses the addresses. */
  readonly isInLab?: boolean;
}

/** Throws for a setting that does not exist, has a wrong value, or asks for something unsupported. */
export function checkSettings(settings: Partial<Settings>, { dialect, stores, isInLab }: NodeKind): void {
  checkSettingNames(settings);
  const server = dialectNamed(dialect ?? DEFAULT_DIALECT);
  for (const [key, value] of Object.entries(settings)) {
    const name = key as keyof Settings;
    const option = `settings.${name}`;
    if (ADDRESSES.has(name)) {
      const instead = isInLab ? 'the lab chooses the addresses' : `use the option ${OPTION_OF[name]}`;
      throw badOption(option, value, `no value (${instead})`);
    }
    const { initial, allowed } = parameterIn(name, server);
    if (typeof value !== typeof initial) throw badOption(option, value, allowed);
    const read = readSetting(name, textOf(value), server);
    if (read instanceof BadSetting) {
      // The texts of numbers and words say what `allowed` says.
      const why = allowed === 'a string' || typeof value === 'boolean' ? ` (${read.why})` : '';
      throw badOption(option, value, `${allowed}${why}`);
    }
    // CONFIG SET brings some numbers within bounds, and words to lower case. A setting is used as it is.
    if (allowed !== 'a string' && read !== value) {
      throw badOption(option, value, `${inspect(read)} (redis-server takes it as this)`);
    }
    if (isInLab && name === 'aclfile' && value !== '') {
      throw badOption(option, value, "'' (a node of the lab reads no ACL file: make users with ACL SETUSER)");
    }
    const refusal = refusalOf(name, value, stores);
    if (refusal !== undefined) throw badOption(option, value, `${inspect(initial)} (${refusal})`);
  }
}

/** A setting as redis.conf has it. Numbers are written with all their digits. */
function textOf(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}
