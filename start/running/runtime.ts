/** Which runtime this is: Node, or one of those that offer Node's modules. */

/** False on Bun and Deno. They have no V8 flags of Node's kind, and do not keep compiled code. */
export const isNode: boolean = !('bun' in process.versions || 'deno' in process.versions);
