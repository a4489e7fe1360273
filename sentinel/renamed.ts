/** The names of commands on monitored nodes, some of which may have been renamed there. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import type { Instance } from './instances.ts';

/** The name that a command has on the nodes of the instance's group. */
export function commandFor({ group }: Instance, name: Bytes): Bytes {
  return group.renamed.get(asciiLower(name)) ?? name;
}
