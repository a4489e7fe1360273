/** The fields of CLIENT LIST and CLIENT INFO that each server has, in their order. */

/** The fields of Redis 7.0. */
const REDIS_7_0 = [
  'id',
  'addr',
  'laddr',
  'fd',
  'name',
  'age',
  'idle',
  'flags',
  'db',
  'sub',
  'psub',
  'ssub',
  'multi',
  'qbuf',
  'qbuf-free',
  'argv-mem',
  'multi-mem',
  'rbs',
  'rbp',
  'obl',
  'oll',
  'omem',
  'tot-mem',
  'events',
  'cmd',
  'user',
  'redir',
  'resp',
] as const;

const LIBRARY = ['lib-name', 'lib-ver'] as const;
const TOTALS = ['tot-net-in', 'tot-net-out', 'tot-cmds'] as const;

/** A field that one of the servers has. */
export type ClientField =
  | (typeof REDIS_7_0)[number]
  | (typeof LIBRARY)[number]
  | (typeof TOTALS)[number]
  | 'capa'
  | 'watch'
  | 'io-thread';

function after(
  place: ClientField,
  field: ClientField,
  fields: readonly ClientField[],
): readonly ClientField[] {
  return fields.flatMap((each) => (each === place ? [each, field] : [each]));
}

const WATCHED = after('multi', 'watch', REDIS_7_0);

export const clientFields = {
  redis70: REDIS_7_0 as readonly ClientField[],
  redis72: [...REDIS_7_0, ...LIBRARY] as readonly ClientField[],
  redis80: [...WATCHED, ...LIBRARY, 'io-thread'] as readonly ClientField[],
  redis82: [...WATCHED, ...LIBRARY, 'io-thread', ...TOTALS] as readonly ClientField[],
  valkey81: [...after('flags', 'capa', WATCHED), ...LIBRARY, ...TOTALS] as readonly ClientField[],
};
