/** A hook of Node's module loader: `ioredis` is ioredis 5. */
export function resolve(specifier, context, next) {
  return next(specifier === 'ioredis' ? 'ioredis5' : specifier, context);
}
