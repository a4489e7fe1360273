/** The ACL file: a line for each user. A start and ACL LOAD read it, ACL SAVE writes it. */
import type { Bytes } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { systemError } from '../aof/aof-error.ts';
import { type ConfigFile, trimLine } from '../settings/rewrite.ts';
import type { Acl } from './acl.ts';
import { BadRule } from './bad-rule.ts';
import { mergeSelectors } from './rules.ts';
import { UNKNOWN_RULE } from './selector.ts';
import type { User } from './user.ts';

/** The ACL file cannot be used. The message is Redis' error of ACL LOAD, without its code. */
export class BadAclFile extends Error {
  override readonly name = 'BadAclFile';
}

/** The node, as its ACL file sees it. */
interface AclFileNode {
  readonly acl: Acl;
  readonly settings: { readonly aclfile: Bytes };
  readonly dialect: { readonly aclRules: 'worked out' | 'as given' };
}

const NOTHING_CHANGED =
  'WARNING: ACL errors detected, no change to the previously active ACL rules was performed';

/**
 * Replaces all users by those of the file.
 * @throws BadAclFile with every error of the file. Then no user has changed
 */
export function loadUsers({ acl, settings: { aclfile } }: AclFileNode, file: ConfigFile): void {
  const errors: Bytes[] = [];
  const users = new Map<Bytes, User>();
  for (const [i, line] of contentOf(file, aclfile).split('\n').entries()) {
    const text = trimLine(line);
    if (text !== '') errors.push(...addUser(acl, users, text.split(' '), aclfile, i + 1));
  }
  if (errors.length > 0) throw new BadAclFile([...errors, NOTHING_CHANGED].join(' '));
  acl.replace(users);
}

function contentOf(file: ConfigFile, name: Bytes): Bytes {
  let why = 'No such file or directory';
  try {
    const text = file.read();
    if (text !== undefined) return text;
  } catch (error) {
    // As in Redis: a directory can be opened, and has no line.
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return '';
    why = systemError(error);
  }
  throw new BadAclFile(`Error loading ACLs, opening file '${name}': ${why}`);
}

/** Adds the user of one line. Returns the errors of the line, in Redis' words. */
function addUser(
  acl: Acl,
  users: Map<Bytes, User>,
  [first, name, ...words]: readonly Bytes[],
  file: Bytes,
  number: number,
): Bytes[] {
  const place = `${file}:${number}`;
  if (first !== 'user' || name === undefined) {
    return [`${place} should start with user keyword followed by the username.`];
  }
  // The quote at the beginning is Redis' own.
  if (/[\0\t-\r ]/.test(name)) return [`'${place}: username '${name}' contains invalid characters.`];
  if (users.has(name)) return [`WARNING: Duplicate user '${name}' found on line ${number}.`];
  const user = acl.newUser(name);
  users.set(name, user);
  let rules: Bytes[];
  try {
    rules = mergeSelectors(words);
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    return [`${place}: Unmatched parenthesis in selector definition.`];
  }
  const errors: Bytes[] = [];
  let isWrong = false;
  for (const rule of rules) {
    const trimmed = rule.replace(/^[\t\r\n]+|[\t\r\n]+$/g, '');
    try {
      user.apply(trimmed);
    } catch (error) {
      if (!(error instanceof BadRule)) throw error;
      const { message } = error;
      if (message === UNKNOWN_RULE)
        errors.push(`${place}: Error in applying operation '${trimmed}': ${message}.`);
      else if (!isWrong) errors.push(`${place}: ${message}.`);
      isWrong ||= message !== UNKNOWN_RULE;
    }
  }
  return errors;
}

/** Writes all users to the file. Throws the system's error. */
export function saveUsers({ acl, dialect }: AclFileNode, file: ConfigFile): void {
  const asGiven = dialect.aclRules === 'as given';
  file.write(
    acl
      .sorted()
      .map((user) => `${user.describe(asGiven)}\n`)
      .join(''),
  );
}
