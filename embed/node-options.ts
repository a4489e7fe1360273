/** Checks the options that a node is made of: its dialect and its settings. */
import { inspect } from 'node:util';
import { dialectNames } from '../server/dialects/index.ts';
import { refusalOf } from '../server/settings/refusals.ts';
import { parameters, type Settings } from '../server/settings/settings.ts';
import { badOption, checkNames } from './options.ts';

/** Throws unless the value names a server that a node can answer as. */
export function checkDialect(name: string, value: unknown): void {
  if ((dialectNames as readonly unknown[]).includes(value)) return;
  throw badOption(name, value, dialectNames.map((each) => `'${each}'`).join(', '));
}

/**
 * Throws for a setting that does not exist, has the wrong type, or asks for something unsupported.
 * @param stores true when the servers have a place for an append-only file, as the lab's do
 */
export function checkSettings(settings: Partial<Settings>, stores = false): void {
  checkNames(settings, Object.keys(parameters), 'settings');
  for (const [name, value] of Object.entries(settings)) {
    const { initial } = parameters[name as keyof Settings];
    if (typeof value !== typeof initial) throw badOption(`settings.${name}`, value, `a ${typeof initial}`);
    const refusal = refusalOf(name as keyof Settings, value, stores);
    if (refusal !== undefined) {
      throw badOption(`settings.${name}`, value, `${inspect(initial)} (${refusal})`);
    }
  }
}
