/** All that a server has, as lines of text: keys with their ends, values, ends of fields, consumer groups, and functions. */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { type RawReply, request } from '../../support/reply-text.ts';

/** Databases of a server. */
const DATABASES = 16;

/** Answers of several requests at once. */
export async function askAll(
  client: RawClient,
  requests: readonly (readonly Bytes[])[],
): Promise<RawReply[]> {
  await client.send(requests.map(([name = '', ...words]) => request(name, ...words)).join(''));
  const replies: RawReply[] = [];
  for (const _ of requests) replies.push((await client.read()).value);
  return replies;
}

const words = ([, value]: RawReply): Bytes[] =>
  Array.isArray(value) ? (value as readonly RawReply[]).map(([, word]) => String(word)) : [];

/**
 * What a primary and its replica need not have in common: how a tree is built, when a consumer was seen, and when ids of
 * producers that had expired were forgotten.
 */
const OWN = /^(radix-tree-(keys|nodes)|iids-added|seen-time|active-time|idle|inactive)$/;

/** A consumer without pending entries: XAUTOCLAIM makes one, and the servers tell their replicas nothing of it. */
function isIdle(reply: RawReply): boolean {
  const parts = words(reply);
  return parts[0] === 'name' && parts[parts.indexOf('pel-count') + 1] === '0' && parts.includes('seen-time');
}

const LAST = 2 ** 63 - 1024;

/** A reply without what is a server's own. */
function common(reply: RawReply): unknown {
  const [marker, value] = reply;
  // A time beyond 2^53 is a double here (docs/differences.md), and the last one the largest double below 2^63.
  if (marker === ':' && !Number.isSafeInteger(Number(value))) return `:${Math.min(Number(value), LAST)}`;
  if (!Array.isArray(value)) return `${marker}${value}`;
  const parts = (value as readonly RawReply[]).filter((part) => !isIdle(part));
  return parts.flatMap((part, i) => {
    const before = i % 2 === 1 ? parts[i - 1]?.[1] : part[1];
    return typeof before === 'string' && OWN.test(before) ? [] : [common(part)];
  });
}

/** Requests about one key, by its type, that show what its digest does not. */
function questionsAbout(key: Bytes, type: Bytes, fields: readonly Bytes[]): (readonly Bytes[])[] {
  const end: readonly Bytes[] = ['PEXPIRETIME', key];
  if (type === 'stream') return [end, ['XINFO', 'STREAM', key, 'FULL', 'COUNT', '0']];
  if (type !== 'hash' || fields.length === 0) return [end];
  return [end, ['HPEXPIRETIME', key, 'FIELDS', String(fields.length), ...fields]];
}

/** What one database has, by key. */
async function contentOfDatabase(client: RawClient, db: number): Promise<[string, string][]> {
  const [, found] = await askAll(client, [
    ['SELECT', String(db)],
    ['KEYS', '*'],
  ]);
  const keys = words(found!).sort();
  if (keys.length === 0) return [];
  const digests = words((await askAll(client, [['DEBUG', 'DIGEST-VALUE', ...keys]]))[0]!);
  const types = (
    await askAll(
      client,
      keys.map((key) => ['TYPE', key]),
    )
  ).map(([, type]) => String(type));
  const hashes = keys.filter((_, i) => types[i] === 'hash');
  const names = await askAll(
    client,
    hashes.map((key) => ['HKEYS', key]),
  );
  const fields = new Map(hashes.map((key, i) => [key, words(names[i]!).sort()]));
  const questions = keys.map((key, i) => questionsAbout(key, types[i]!, fields.get(key) ?? []));
  const answers = await askAll(client, questions.flat());
  let at = 0;
  return keys.map((key, i) => {
    const told = questions[i]!.map(([name]) => `${name} ${JSON.stringify(common(answers[at++]!))}`);
    return [`${db} ${JSON.stringify(key)}`, [types[i], digests[i], ...told].join('\n      ')];
  });
}

/** All that a server has: what is said of each key, and of the functions, by its name. */
export async function contentOf(client: RawClient): Promise<Map<string, string>> {
  const all: [string, string][] = [];
  for (let db = 0; db < DATABASES; db++) all.push(...(await contentOfDatabase(client, db)));
  const [, functions] = await askAll(client, [
    ['SELECT', '0'],
    ['FUNCTION', 'LIST', 'WITHCODE'],
  ]);
  const libraries = Array.isArray(functions?.[1]) ? (functions[1] as readonly RawReply[]) : [];
  for (const library of libraries) {
    const [, name = '', , , , , , text] = words(library);
    const functions = (library[1] as readonly RawReply[])[5]?.[1] as readonly RawReply[];
    // In the order of a hash table.
    const sorted = functions.map((each) => JSON.stringify(each)).sort();
    all.push([`library ${name}`, `${sorted.join(' ')} ${text}`]);
  }
  return new Map(all);
}

/** What a primary and its replica say differently of a name. */
export interface Found {
  readonly name: string;
  /** What each of them says. */
  readonly text: string;
}

/** What two servers say differently, a paragraph for each name. */
export function differencesOf(
  primary: ReadonlyMap<string, string>,
  replica: ReadonlyMap<string, string>,
): Found[] {
  const names = [...new Set([...primary.keys(), ...replica.keys()])].sort();
  return names
    .filter((name) => primary.get(name) !== replica.get(name))
    .map((name) => ({
      name,
      text: `  ${name}\n    primary: ${primary.get(name) ?? '(nothing)'}\n    replica: ${replica.get(name) ?? '(nothing)'}`,
    }));
}
