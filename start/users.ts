/** The users of a server that starts: those of its options, or of its ACL file. */
import { badOption } from '../base/options.ts';
import { fromText } from '../protocol/bytes.ts';
import { ReplyError } from '../protocol/reply.ts';
import { BadAclFile, loadUsers } from '../server/acl/acl-file.ts';
import { mergeSelectors } from '../server/acl/rules.ts';
import { titleOf } from '../server/dialects/identity.ts';
import { placed } from '../server/host/directory.ts';
import type { Server } from '../server/server.ts';
import { DiskConfigFile } from './files/config-file.ts';

/** Creates the users. Throws TypeError for rules that ACL SETUSER refuses. */
export function addUsers(node: Server, users: Readonly<Record<string, string>>): void {
  for (const [name, rules] of Object.entries(users)) {
    try {
      const words = fromText(rules).split(/\s+/);
      node.acl.change(fromText(name), mergeSelectors(words.filter((word) => word !== '')));
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      throw badOption(`users.${name}`, rules, `rules of ACL SETUSER (${error.message})`);
    }
  }
}

/** Loads the users of the file that the setting `aclfile` names, if it names one. Throws an Error that says what is wrong with it. */
export function openAclFile(node: Server): void {
  const { settings } = node;
  if (settings.aclfile === '') return;
  // CONFIG SET may enter another directory later.
  const open = () => new DiskConfigFile(placed(settings.dir, settings.aclfile));
  node.aclFile = open;
  try {
    node.unit(() => loadUsers(node, open()));
  } catch (error) {
    if (!(error instanceof BadAclFile)) throw error;
    node.log('warning', `Aborting ${titleOf(node)} startup because of ACL errors: ${error.message}`);
    throw new Error(`lostlock: the ACL file cannot be loaded: ${error.message}`, { cause: error });
  }
}
