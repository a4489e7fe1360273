/** The names of the ways to compare two replies. */

/**
 * How two replies are compared that are not the same bytes:
 * - `unordered`: the elements in any order; `pairs`: pairs of elements in any order; `scan`, `scanPairs`: the same
 *   behind a cursor;
 * - `near`, `nearSeconds`: numbers of milliseconds, or of seconds, that differ by the time between the two servers;
 * - `size`: the same number of elements or bytes, chosen at random; `shape`: the same type, and nil for nil, the content is
 *   the server's own; `names`: the same fields in the same order, the values are the server's own;
 * - `payload`: of DUMP, the same value in the same form and, unless redis-server has compressed it, of the same length
 *   (the nodes of lists and streams are those of their history, so only what they hold counts);
 * - `info`: of COMMAND, every list in any order, notes left out;
 * - `rules`: of ACL, texts whose single commands (`+get -set|x`) come in any order, those that only one server has left out;
 * - `client`: of CLIENT LIST and INFO, the fields that do not belong to one server alone;
 * - `report`: of INFO, the fields that tell what the program did; `docs`: of COMMAND DOCS, all but its prose;
 * - elements each with their own rule (what EXEC and scripts gather), all with one, or by the field's name before them.
 */
export type Rule =
  | 'exact'
  | 'unordered'
  | 'pairs'
  | 'scan'
  | 'scanPairs'
  | 'near'
  | 'nearSeconds'
  | 'size'
  | 'shape'
  | 'payload'
  | 'info'
  | 'rules'
  | 'client'
  | 'names'
  | 'report'
  | 'docs'
  | { readonly each: readonly Rule[] }
  | { readonly every: Rule }
  | { readonly fields: Readonly<Record<string, Rule>> };
