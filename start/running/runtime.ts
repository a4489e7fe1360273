/** Which runtime this is: Node, or one of those that offer Node's modules. */

/** False on Bun and Deno. They have no V8 flags of Node's kind, and do not keep compiled code. */
export const isNode: boolean = !('bun' in process.versions || 'deno' in process.versions);

/** What this runtime calls itself. */
export const runtimeName: string =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node';

/** True when a debugger may be attached to this process. False on Bun and Deno: Deno's answer would need a permission. */
export function isDebugged(): boolean {
  return isNode && process.getBuiltinModule?.('node:inspector').url() !== undefined;
}
