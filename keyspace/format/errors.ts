/** The errors of reading RDB data. */

/** RDB data that cannot be read: a wrong version or checksum, or an invalid format. */
export class RdbError extends Error {
  readonly kind: 'checksum' | 'format';
  constructor(kind: 'checksum' | 'format', message: string) {
    super(message);
    this.name = 'RdbError';
    this.kind = kind;
  }
}

/** The error for data that contradicts itself. */
export function badFormat(where: string): RdbError {
  return new RdbError('format', `bad RDB data: ${where}`);
}
