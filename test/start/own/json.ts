/** The commands of docs/commands-of-your-own.md: a small json.set, json.get and json.numincrby. */
import type { OwnCommand } from '../../../start/own/own-command.ts';

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const type = 'ReJSON-RL';

const jsonSet: OwnCommand = {
  arity: -4,
  keys: 1,
  flags: ['write', 'denyoom'],
  categories: ['json'],
  type,
  summary: 'Stores a JSON document.',
  run([key = '', path, text = ''], { value, store }) {
    const document = JSON.parse(text) as Json;
    if (path === '$') store(key, document);
    else {
      const whole = value<{ [name: string]: Json }>(key);
      if (whole === undefined) throw new Error('ERR new objects must be created at the root');
      whole[String(path).slice(2)] = document;
      store(key, whole, { keepTtl: true });
    }
    return { ok: 'OK' };
  },
};

const jsonGet: OwnCommand = {
  arity: -2,
  keys: 1,
  flags: ['readonly'],
  categories: ['json'],
  type,
  run([key = '', path = '$'], { value }) {
    const document = value<{ [name: string]: Json }>(key);
    if (document === undefined) return null;
    return JSON.stringify(path === '$' ? document : document[path.slice(2)]);
  },
};

/** They are what a team would write that uses two commands of a module. */
export const json = { 'json.set': jsonSet, 'json.get': jsonGet };
