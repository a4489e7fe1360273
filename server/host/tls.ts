/** Node's TLS. It is loaded when it is first used, because few servers use it, and it takes 3 to 12 ms. */

/** Returns Node's module. */
export function nodeTls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls');
}
