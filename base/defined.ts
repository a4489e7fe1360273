/** Optional properties: keeps those that have a value, because an optional property of our types is never undefined. */

/** The properties of `T` that may be undefined, as optional ones that are not. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without the properties that are undefined: `{ ...defined({ dialect }) }` has no `dialect` when there is none. */
export function defined<T extends object>(properties: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
